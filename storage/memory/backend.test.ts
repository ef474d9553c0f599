import { backendSuite } from '../testing/backend-suite.js';
import { createManualClock } from '../testing/manual-clock.js';
import { createMemoryBackend } from './backend.js';

backendSuite('memory', (t) => {
  const clock = createManualClock();
  const backend = createMemoryBackend({ clock });
  t.after(() => backend.close());
  return Promise.resolve({
    backend,
    passSeconds: (seconds) => {
      clock.advance(seconds * 1000);
      return Promise.resolve();
    },
  });
});
