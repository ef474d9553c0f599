import type { DomainState } from '../openapi/launcher/protocol.js';

/** What can happen to a domain. */
export type Trigger =
  /** The VMI has come. */
  | 'prepare'
  /** The guest executes. */
  | 'run'
  /** The guest is stopped and can go on. */
  | 'pause'
  /** Somebody wants it to end. */
  | 'shutdown'
  /** The guest is off, or never was on. */
  | 'powerOff'
  /** QEMU is gone because the launcher killed it. */
  | 'kill'
  | 'fail';

/** From each state, what leads where. What is not here is no transition: it changes nothing. */
export const transitions: Readonly<Record<DomainState, Readonly<Partial<Record<Trigger, DomainState>>>>> = {
  Waiting: { prepare: 'Preparing', powerOff: 'Shutoff', fail: 'Failed' },
  Preparing: {
    run: 'Running',
    pause: 'Paused',
    shutdown: 'ShuttingDown',
    powerOff: 'Shutoff',
    fail: 'Failed',
  },
  Running: { pause: 'Paused', shutdown: 'ShuttingDown', powerOff: 'Shutoff', fail: 'Failed' },
  Paused: { run: 'Running', shutdown: 'ShuttingDown', powerOff: 'Shutoff', fail: 'Failed' },
  ShuttingDown: { powerOff: 'Shutoff', kill: 'Killed', fail: 'Failed' },
  Shutoff: {},
  Failed: {},
  Killed: {},
};

export function next(state: DomainState, trigger: Trigger): DomainState | undefined {
  return transitions[state][trigger];
}

export function isFinal(state: DomainState): boolean {
  return Object.keys(transitions[state]).length === 0;
}
