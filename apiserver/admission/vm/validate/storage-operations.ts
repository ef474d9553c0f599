/** What must stay as it is while a snapshot is taken or restored. */
import type { VirtualMachine, VirtualMachineSpec } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { notSupported, type FieldPath } from '../../causes.js';

/** `at` is the place of the VM's spec. */
export function storageOperationCauses(
  vm: VirtualMachine,
  old: VirtualMachine,
  at: FieldPath,
): StatusCause[] {
  const { snapshotInProgress, restoreInProgress } = vm.status ?? {};
  const causes: StatusCause[] = [];
  if (snapshotInProgress !== undefined) {
    const until = `until snapshot ${snapshotInProgress} is done`;
    if (!sameJson(volumesOf(vm), volumesOf(old)))
      causes.push(notSupported(at, `volumes can not be changed ${until}`));
    if (!runsAlike(vm.spec, old.spec))
      causes.push(notSupported(at, `the VM can not be started or stopped ${until}`));
  }
  if (restoreInProgress !== undefined && strategyOf(vm.spec) !== strategyOf(old.spec)) {
    causes.push(
      notSupported(at, `the run strategy can not be changed until restore ${restoreInProgress} is done`),
    );
  }
  return causes;
}

const volumesOf = ({ spec }: VirtualMachine): unknown => spec.template.spec?.volumes ?? [];

/** The same words with the same value: from `running` to `runStrategy` is a change. */
function runsAlike(spec: VirtualMachineSpec, old: VirtualMachineSpec): boolean {
  return spec.running === old.running && spec.runStrategy === old.runStrategy;
}

function strategyOf({ running, runStrategy }: VirtualMachineSpec): string | undefined {
  return running === undefined ? runStrategy : running ? 'Always' : 'Halted';
}
