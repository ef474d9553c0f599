import { setMaxListeners } from 'node:events';

/**
 * A signal that aborts with `signal`, and that any number of waiting calls may listen to: Node takes more than ten for a
 * leak.
 */
export function sharedSignal(signal: AbortSignal): AbortSignal {
  const shared = AbortSignal.any([signal]);
  setMaxListeners(0, shared);
  return shared;
}
