import { failure } from './errors.js';
import type { Trigger } from './domain-states.js';

/** What is known when QEMU has gone. */
export interface QemuEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The launcher sent SIGKILL. */
  readonly killed: boolean;
  readonly graceSeconds: number;
  /** Somebody had asked for the shutdown. */
  readonly requested: boolean;
  readonly panicked: boolean;
  /** The watchdog powered the machine off. */
  readonly watchdogExpired: boolean;
  /** `reason` of QEMU's SHUTDOWN event. */
  readonly shutdownReason: string | undefined;
  readonly logTail: string;
}

export interface Change {
  readonly trigger: Trigger;
  readonly reason: string;
  readonly message: string;
}

export function failed(error: { readonly reason: string; readonly message: string }): Change {
  return { trigger: 'fail', reason: error.reason, message: error.message };
}

/** What the end of QEMU means. */
export function explainEnd(end: QemuEnd): Change {
  if (end.killed) return explainKill(end);
  if (end.panicked || end.shutdownReason === 'guest-panic') return failed(failure('GuestPanicked'));
  if (end.watchdogExpired) return failed(failure('WatchdogExpired'));
  if (end.code === 0) {
    const clean = explainShutdown(end);
    if (clean) return clean;
  }
  const how = end.signal === null ? `exit status ${end.code ?? 'unknown'}` : `signal ${end.signal}`;
  return failed(failure('QEMUCrashed', how, end.logTail));
}

function explainKill({ graceSeconds }: QemuEnd): Change {
  if (graceSeconds === 0) {
    return { trigger: 'kill', reason: 'Killed', message: 'The virtual machine was killed, as requested.' };
  }
  return {
    trigger: 'kill',
    reason: 'GracePeriodExceeded',
    message: `The guest did not power off within ${graceSeconds} s and was killed. It may ignore the ACPI power button; a longer terminationGracePeriodSeconds gives it more time.`,
  };
}

function explainShutdown({ shutdownReason, requested }: QemuEnd): Change | undefined {
  switch (shutdownReason) {
    case 'guest-shutdown':
      return requested
        ? {
            trigger: 'powerOff',
            reason: 'ShutdownRequested',
            message: 'The guest powered off, as requested.',
          }
        : { trigger: 'powerOff', reason: 'GuestShutdown', message: 'The guest powered off by itself.' };
    case 'guest-reset':
      return {
        trigger: 'powerOff',
        reason: 'GuestReboot',
        message: 'The guest rebooted, which ends it because spec.domain.rebootPolicy is Terminate.',
      };
    case 'host-qmp-quit':
      return {
        trigger: 'powerOff',
        reason: 'ShutdownRequested',
        message: 'The virtual machine was ended, as requested.',
      };
    case 'host-signal':
      return failed(failure('QEMUTerminated', 'a signal'));
    default:
      return undefined;
  }
}
