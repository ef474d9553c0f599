/** Reads migrations and what instances tell of theirs. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../openapi/generated/types/kubevirt_v1.js';

/** The guest is on its way: it has a pod on each side. */
export function isMigrating({ status }: VirtualMachineInstance): boolean {
  const state = status?.migrationState;
  return state?.startTimestamp !== undefined && state.completed !== true && state.failed !== true;
}

export function isMigrationFinal({ status }: VirtualMachineInstanceMigration): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
