/** Validation of a VirtualMachineRestore: what it restores to, how, and that nothing else does the same right now. */
import type {
  VirtualMachineRestore,
  VirtualMachineRestoreSpec,
} from '../../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid, required, unknownWord } from '../causes.js';
import { requireFeature } from '../configuration/require-feature.js';
import { immutableSpec } from '../immutable-spec.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';
import { virtualMachineReferenceCauses } from '../virtual-machine-reference.js';
import { backendStorageCauses } from './backend-storage.js';
import { patchCauses } from './patches.js';

const restorePolicies = ['InPlace', 'RandomizeNames', 'PrefixTargetName'];
const ownershipPolicies = ['Vm', 'None'];

export function virtualMachineRestoreValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineRestore>({
    name: 'VirtualMachineRestoreValidation',
    group: 'snapshot.kubevirt.io',
    resource: 'virtualmachinerestores',
    async create(restore, context) {
      requireFeature(context.configuration, 'Snapshot', 'a VirtualMachineRestore');
      const at = FieldPath.of('spec');
      const target = virtualMachineReferenceCauses(restore.spec.target, at.child('target'));
      return [
        ...(target.length > 0
          ? target
          : [...specCauses(restore.spec, at), ...(await backendStorageCauses(restore, at, context.lookups))]),
        ...(await otherRestores(restore, at, context)),
      ];
    },
    update: immutableSpec,
  });
}

function specCauses(spec: VirtualMachineRestoreSpec, at: FieldPath): StatusCause[] {
  const { patches = [], volumeRestorePolicy, volumeOwnershipPolicy } = spec;
  const causes = [...patchCauses(patches, at.child('patches')), ...overrideCauses(spec, at)];
  if (volumeRestorePolicy !== undefined && !restorePolicies.includes(volumeRestorePolicy)) {
    causes.push(invalid(at.child('volumeRestorePolicy'), unknownWord(volumeRestorePolicy, restorePolicies)));
  }
  if (volumeOwnershipPolicy !== undefined && !ownershipPolicies.includes(volumeOwnershipPolicy)) {
    causes.push(
      invalid(at.child('volumeOwnershipPolicy'), unknownWord(volumeOwnershipPolicy, ownershipPolicies)),
    );
  }
  return causes;
}

function overrideCauses(
  { volumeRestoreOverrides = [] }: VirtualMachineRestoreSpec,
  at: FieldPath,
): StatusCause[] {
  return volumeRestoreOverrides.flatMap(
    ({ volumeName = '', restoreName = '', annotations, labels }, index) => {
      const place = at.child('volumeRestoreOverrides').index(index);
      const causes: StatusCause[] = [];
      if (volumeName === '')
        causes.push(required(place.child('volumeName'), 'must name a volume of the snapshot'));
      if (restoreName === '' && annotations === undefined && labels === undefined) {
        causes.push(required(place, 'must have at least one of restoreName, annotations and labels'));
      }
      return causes;
    },
  );
}

async function otherRestores(
  { metadata, spec }: VirtualMachineRestore,
  at: FieldPath,
  { lookups }: RuleContext,
): Promise<StatusCause[]> {
  const all = await lookups.list<VirtualMachineRestore>(
    'snapshot.kubevirt.io',
    'virtualmachinerestores',
    metadata.namespace,
  );
  return all
    .filter((other) => other.status?.complete !== true && sameJson(other.spec.target, spec.target))
    .map((other) =>
      invalid(
        at.child('target'),
        `VirtualMachineRestore ${JSON.stringify(other.metadata.name)} is restoring it: wait until that is complete`,
      ),
    );
}
