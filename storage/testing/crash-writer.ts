/**
 * A process that writes until it is killed, and says on stdout what was acknowledged: `<key> <revision> <count>` a line.
 * Each key counts up; every seventh count deletes it. History is compacted all the while.
 */
import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { openLevelBackend } from '../level/backend.js';

const [, , directory] = process.argv;
if (directory === undefined) throw new Error('usage: crash-writer.ts <directory>');

const writers = 16;
const backend = await openLevelBackend({
  directory,
  logger: pino({ level: 'warn' }, pino.destination(2)),
  retention: { milliseconds: 20, revisions: 50 },
});

/** Returns when the line is in the pipe: `process.stdout` queues what a busy reader's pipe has no room for, and a kill loses that. */
function acknowledge(line: string): void {
  writeSync(1, `${line}\n`);
}

async function count(key: string): Promise<never> {
  const { kv } = await backend.get(key);
  let expect = kv?.modRevision ?? 0;
  const counter = `${key}-count`;
  const head = (await backend.get(counter)).kv;
  let counterRevision = head?.modRevision ?? 0;
  for (let n = Number(head?.value.toString() ?? 0) + 1; ; n++) {
    const deletes = n % 7 === 0 && expect !== 0;
    const value = deletes ? undefined : Buffer.from(`${n}`.padStart(500));
    const { revision } = await backend.write({ key, expect, value });
    expect = deletes ? 0 : revision;
    acknowledge(`${key} ${revision} ${deletes ? 'deleted' : n};`);
    ({ revision: counterRevision } = await backend.write({
      key: counter,
      expect: counterRevision,
      value: Buffer.from(String(n)),
    }));
    acknowledge(`${counter} ${counterRevision} ${n};`);
  }
}

await Promise.all(Array.from({ length: writers }, (_, i) => count(`/g/r/${i}`)));
