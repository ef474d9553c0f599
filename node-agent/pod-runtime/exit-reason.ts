/** What the status of a pod says of its launcher's end. */
import { finalStates, type DomainStatus } from '../../openapi/launcher/protocol.js';
import type { LauncherExit } from './launcher-process.js';
import type { Ended } from './pod-status.js';

/** @param last what it told last */
export function exitReason(
  { exitCode, signal }: LauncherExit,
  last: DomainStatus | undefined,
  log: string,
): Pick<Ended, 'succeeded' | 'exitCode' | 'reason' | 'message'> {
  const final = last !== undefined && finalStates.includes(last.state) ? last : undefined;
  // Of a launcher that nobody waited for, only its last words tell how it ended.
  const succeeded =
    exitCode === 0 || (exitCode === undefined && final !== undefined && final.state !== 'Failed');
  if (succeeded) {
    const message = final?.message ?? 'the launcher ended before it got a virtual machine instance';
    return { succeeded, exitCode: 0, reason: 'Completed', message };
  }
  const code = exitCode === undefined ? '' : ` with code ${exitCode}`;
  const how = signal === undefined ? code : ` by ${signal}`;
  return {
    succeeded,
    // As a shell tells the end by SIGKILL.
    exitCode: exitCode ?? (signal === undefined ? 1 : 137),
    reason: final?.reason ?? 'Error',
    message: final?.message ?? `the launcher ended${how} without saying why; see ${log}`,
  };
}
