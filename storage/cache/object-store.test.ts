import { createMemoryBackend } from '../memory/backend.js';
import { openLevelFixture } from '../testing/level-directory.js';
import { createManualClock } from '../testing/manual-clock.js';
import { storeSuite } from '../testing/store-suite.js';

storeSuite('memory', (t) => {
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

storeSuite('level', openLevelFixture);
