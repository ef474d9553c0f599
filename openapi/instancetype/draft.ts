/** An instance in the making. */
import type { VirtualMachineInstanceSpec } from '../generated/types/kubevirt_v1.js';

/** Owned by whoever completes it: changed in place. */
export interface Draft {
  readonly spec: VirtualMachineInstanceSpec;
  readonly annotations: Record<string, string>;
}

/** Sets a member that is not set. Empty strings are how clients written in Go leave one out. */
export function prefer<T extends object, K extends keyof T>(
  target: T,
  key: K,
  preferred: T[K] | undefined,
): void {
  if (preferred === undefined || preferred === '') return;
  if (target[key] !== undefined && target[key] !== '') return;
  target[key] = typeof preferred === 'object' ? structuredClone(preferred) : preferred;
}
