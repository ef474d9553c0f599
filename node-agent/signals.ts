import { setMaxListeners } from 'node:events';

/** A signal that aborts with any of several others; `dispose` lets go of them, which may live longer. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  dispose(): void;
}

/** `AbortSignal.any` keeps entries in long-lived sources (nodejs/node#54614); this one does not once disposed. */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  // As many may wait for it as like: Node takes more than ten for a leak.
  setMaxListeners(0, controller.signal);
  const abort = (event: Event): void => {
    // Only abort signals send this event.
    controller.abort((event.target as AbortSignal).reason);
  };
  for (const source of sources) {
    if (source.aborted) controller.abort(source.reason);
    else source.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    dispose() {
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}

/** Resolves when the signal aborts. Only for signals that do not outlive their user: it leaves a listener behind. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
