import assert from 'node:assert/strict';
import test from 'node:test';
import { explainEnd, type QemuEnd } from './domain-end.js';

const clean: QemuEnd = {
  code: 0,
  signal: null,
  killed: false,
  graceSeconds: 30,
  requested: false,
  panicked: false,
  watchdogExpired: false,
  shutdownReason: 'guest-shutdown',
  logTail: '',
};

const cases: [title: string, end: Partial<QemuEnd>, trigger: string, reason: string][] = [
  ['the guest powered off', {}, 'powerOff', 'GuestShutdown'],
  ['it did so when asked', { requested: true }, 'powerOff', 'ShutdownRequested'],
  ['it rebooted and may not', { shutdownReason: 'guest-reset' }, 'powerOff', 'GuestReboot'],
  ['it never ran', { shutdownReason: 'host-qmp-quit', requested: true }, 'powerOff', 'ShutdownRequested'],
  ['it panicked', { panicked: true }, 'fail', 'GuestPanicked'],
  ['its watchdog powered it off', { watchdogExpired: true, code: 1 }, 'fail', 'WatchdogExpired'],
  ['QEMU was ended by a signal that it caught', { shutdownReason: 'host-signal' }, 'fail', 'QEMUTerminated'],
  ['QEMU was killed by somebody else', { code: null, signal: 'SIGKILL' }, 'fail', 'QEMUCrashed'],
  ['QEMU aborted', { code: null, signal: 'SIGABRT', logTail: 'assert' }, 'fail', 'QEMUCrashed'],
  ['QEMU ended well and told no reason', { shutdownReason: undefined }, 'fail', 'QEMUCrashed'],
  ['the launcher killed it', { killed: true, code: null, signal: 'SIGKILL' }, 'kill', 'GracePeriodExceeded'],
  ['it was to be killed at once', { killed: true, graceSeconds: 0 }, 'kill', 'Killed'],
];

for (const [title, end, trigger, reason] of cases) {
  test(`the end of QEMU: ${title}`, () => {
    const change = explainEnd({ ...clean, ...end });
    assert.deepEqual([change.trigger, change.reason], [trigger, reason]);
    assert.ok(change.message.length > 20);
  });
}

test('a crash carries the last lines of the log', () => {
  const { message } = explainEnd({ ...clean, code: 1, shutdownReason: undefined, logTail: 'out of memory' });
  assert.match(message, /exit status 1.*out of memory/);
});
