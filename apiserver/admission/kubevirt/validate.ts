/** Validation of the KubeVirt object: there is one, its configuration makes sense, and it outlives the workloads it is told to protect. */
import type { KubeVirt } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, StatusCause } from '../../../openapi/meta.js';
import { badRequest } from '../../errors/api-error.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';
import { certificates } from './validate/certificates.js';
import { customizeComponents } from './validate/customize-components.js';
import { featureGateConflicts, featureGateNeeds } from './validate/feature-gates.js';
import { memoryOverheadRatio } from './validate/memory-overhead.js';
import { placement, replicas } from './validate/placement.js';
import { seccompProfile } from './validate/seccomp.js';
import { tls } from './validate/tls.js';
import type { KubeVirtRule } from './validate/rule.js';
import { deprecations } from './warnings.js';

/** Which rule looks at which part of a KubeVirt's spec. */
const rules: Readonly<Record<string, readonly KubeVirtRule[]>> = {
  customizeComponents: [customizeComponents],
  certificateRotateStrategy: [certificates],
  'infra, workloads': [placement, replicas],
  'configuration.additionalGuestMemoryOverheadRatio': [memoryOverheadRatio],
  'configuration.developerConfiguration': [featureGateConflicts],
  'what needs a feature gate': [featureGateNeeds],
  'configuration.tlsConfiguration': [tls],
  'configuration.seccompConfiguration': [seccompProfile],
};

export function kubeVirtValidation(): AdmissionPlugin {
  return kindAdmission<KubeVirt>({
    name: 'KubeVirtValidation',
    group: 'kubevirt.io',
    resource: 'kubevirts',
    async create(kubevirt, context) {
      const [other] = await context.lookups.list<KubeVirt>('kubevirt.io', 'kubevirts', undefined);
      if (other !== undefined) {
        const { namespace = '', name } = other.metadata;
        throw badRequest(`there is a KubeVirt already, "${namespace}/${name}": change that one`);
      }
      return causesOf(kubevirt, undefined, context);
    },
    update: causesOf,
    delete: requireNoWorkloads,
  });
}

function causesOf({ spec }: KubeVirt, old: KubeVirt | undefined, context: RuleContext): StatusCause[] {
  const causes = Object.values(rules)
    .flat()
    .flatMap((rule) => rule(spec, old?.spec ?? {}));
  if (causes.length === 0) for (const text of deprecations(spec, old?.spec ?? {})) context.warn(text);
  return causes;
}

/** What a KubeVirt protects that is to be removed only after its workloads. */
const workloads = [
  ['virtualmachineinstances', 'VirtualMachineInstances'],
  ['virtualmachines', 'VirtualMachines'],
  ['virtualmachineinstancereplicasets', 'VirtualMachineInstanceReplicaSets'],
] as const;

async function requireNoWorkloads(
  { spec, status }: KubeVirt,
  { lookups }: RuleContext,
): Promise<StatusCause[]> {
  const { uninstallStrategy = '' } = spec;
  if (uninstallStrategy === '' || uninstallStrategy === 'RemoveWorkloads') return [];
  // Without a phase nothing but this object says that the installation is there: then it is.
  if ((status?.phase ?? 'Deployed') !== 'Deployed') return [];
  for (const [resource, kinds] of workloads) {
    const found = await lookups.list<KubernetesObject>('kubevirt.io', resource, undefined);
    if (found.length > 0) {
      throw badRequest(
        `there are still ${found.length} ${kinds}: delete all workloads first, or set spec.uninstallStrategy to RemoveWorkloads`,
      );
    }
  }
  return [];
}
