import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { backendSuite } from '../testing/backend-suite.js';
import { createManualClock } from '../testing/manual-clock.js';
import { openLevelBackend } from './backend.js';

const logger = pino({ level: 'silent' });

backendSuite('level', async (t) => {
  const clock = createManualClock();
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-level-'));
  const backend = await openLevelBackend({ directory, clock, logger });
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
});
