/** A node agent writes the VMIs of its own node only, so that a stolen node can not take others' guests along. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { FieldPath, invalid } from '../../causes.js';
import type { NodeAgent } from '../../components.js';
import { featureEnabled } from '../../configuration/feature-gates.js';

export function nodeRestrictionCauses(
  agent: NodeAgent,
  vmi: VirtualMachineInstance,
  old: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  if (!featureEnabled(configuration, 'NodeRestriction')) return [];
  const at = FieldPath.of('status');
  if (agent.node === undefined) {
    return [
      invalid(at.child('nodeName'), 'the credentials of this node agent do not say which node it serves'),
    ];
  }
  const nodeName = old.status?.nodeName;
  const targetNode = old.status?.migrationState?.targetNode ?? '';
  if (agent.node !== nodeName && agent.node !== targetNode) {
    return [
      invalid(
        at.child('nodeName'),
        `the node agent of ${agent.node} may change the VMIs of its own node, not of ${nodeName ?? 'none'}`,
      ),
    ];
  }
  const target = vmi.status?.migrationState?.targetNode ?? '';
  if (targetNode === '' && target !== '') {
    return [
      invalid(at.child('migrationState', 'targetNode'), `${target}: a node agent does not choose the target`),
    ];
  }
  return [];
}
