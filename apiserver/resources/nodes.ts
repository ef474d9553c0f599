import type { Node } from '../../openapi/generated/types/core_v1.js';
import { age, column, conditionStatus, defineCoreResource, field, versions } from './define.js';

const none = '<none>';
const unknown = '<unknown>';
const rolePrefix = 'node-role.kubernetes.io/';

function status({ spec, status: { conditions } = {} }: Node): string {
  const ready = conditionStatus(conditions === undefined ? undefined : { conditions }, 'Ready');
  const text = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady';
  return spec?.unschedulable === true ? `${text},SchedulingDisabled` : text;
}

function roles({ metadata: { labels = {} } }: Node): string {
  const names = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === 'kubernetes.io/role' ? [value] : [];
  });
  return names.length === 0 ? none : names.sort().join(',');
}

function address(node: Node, type: string): string {
  return node.status?.addresses?.find((one) => one.type === type)?.address ?? none;
}

export const nodes = defineCoreResource({
  group: '',
  kind: 'Node',
  plural: 'nodes',
  shortNames: ['no'],
  namespaced: false,
  versions: versions('io.k8s.api.core.v1.Node', 'v1'),
  status: true,
  columns: [
    column('Status', { description: 'Whether the node takes pods.' }, status),
    column('Roles', { description: 'Roles from its labels.' }, roles),
    age,
    column(
      'Version',
      { description: 'Version of its agent.' },
      (node: Node) => node.status?.nodeInfo?.kubeletVersion,
    ),
    column('Internal-IP', { description: 'Address inside the cluster.', wide: true }, (node: Node) =>
      address(node, 'InternalIP'),
    ),
    column('External-IP', { description: 'Address outside the cluster.', wide: true }, (node: Node) =>
      address(node, 'ExternalIP'),
    ),
    column(
      'OS-Image',
      { description: 'Operating system.', wide: true },
      (node: Node) => node.status?.nodeInfo?.osImage ?? unknown,
    ),
    column(
      'Kernel-Version',
      { description: 'Kernel.', wide: true },
      (node: Node) => node.status?.nodeInfo?.kernelVersion ?? unknown,
    ),
    column(
      'Container-Runtime',
      { description: 'What runs its pods.', wide: true },
      (node: Node) => node.status?.nodeInfo?.containerRuntimeVersion ?? unknown,
    ),
  ],
  selectableFields: { 'spec.unschedulable': field(({ spec }: Node) => spec?.unschedulable ?? false) },
});
