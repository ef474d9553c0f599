import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { openLevelBackend } from '../level/backend.js';
import { createMemoryBackend } from '../memory/backend.js';
import type { BackendFixture } from '../testing/backend-fixture.js';
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

storeSuite('level', openLevel);

async function openLevel(t: TestContext): Promise<BackendFixture> {
  const clock = createManualClock();
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-cache-'));
  const backend = await openLevelBackend({ directory, clock, logger: pino({ level: 'silent' }) });
  t.after(async () => {
    await backend.close();
    await rm(directory, { recursive: true });
  });
  return {
    backend,
    passSeconds: (seconds) => {
      clock.advance(seconds * 1000);
      return Promise.resolve();
    },
  };
}
