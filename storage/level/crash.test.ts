import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { CompactedError } from '../errors.js';
import type { Backend, Revision } from '../interface.js';
import { readUntil } from '../testing/backend-fixture.js';
import { afterTest, makeDirectory, openLevel } from '../testing/level-directory.js';

interface Acknowledged {
  readonly revision: Revision;
  readonly value: string;
}

/** Kills a writer after so many acknowledgements. */
const rounds = [1, 40, 400, 900, 13];

test('kill -9 loses no acknowledged write', async (t) => {
  const directory = await makeDirectory(t);
  const acknowledged = new Map<string, Acknowledged>();
  let newest = 0;
  for (const enough of rounds) {
    newest = Math.max(newest, await writeUntilKilled(t, directory, enough, acknowledged));
    const backend = await openLevel(t, { directory });
    assert.ok((await backend.currentRevision()) >= newest);
    // The next writer goes on from what is there, acknowledged or not.
    for (const [key, last] of acknowledged) acknowledged.set(key, await checkKey(backend, key, last));
    await checkHistory(backend);
    await backend.close();
  }
});

/** Returns the newest revision that was acknowledged. */
async function writeUntilKilled(
  t: TestContext,
  directory: string,
  enough: number,
  acknowledged: Map<string, Acknowledged>,
): Promise<Revision> {
  const writer = join(import.meta.dirname, '../testing/crash-writer.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', writer, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  afterTest(t, () => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let count = 0;
  let newest = 0;
  for await (const line of createInterface(child.stdout)) {
    const [, key, revision, value] = /^(\S+) (\d+) (\d+|deleted);$/.exec(line) ?? [];
    // The last line may be torn, in the middle of its value too.
    if (key === undefined || revision === undefined || value === undefined) continue;
    newest = Math.max(newest, Number(revision));
    acknowledged.set(key, { revision: Number(revision), value });
    if (++count === enough) child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL');
  assert.ok(count >= enough);
  return newest;
}

/** A key is as acknowledged, or as the one write that was under way made it. Returns how it is. */
async function checkKey(backend: Backend, key: string, last: Acknowledged): Promise<Acknowledged> {
  const { kv } = await backend.get(key);
  if (kv !== undefined && kv.modRevision > last.revision) {
    if (last.value !== 'deleted') assert.equal(Number(kv.value.toString()), Number(last.value) + 1, key);
  } else if (kv !== undefined) {
    assert.equal(kv.modRevision, last.revision, key);
    assert.equal(kv.value.toString().trim(), last.value, key);
  } else if (last.value !== 'deleted') {
    assert.equal(Number(last.value) % 7, 6, `${key} is gone`);
  }
  return kv === undefined
    ? { revision: last.revision, value: 'deleted' }
    : { revision: kv.modRevision, value: kv.value.toString().trim() };
}

/** History has no holes: as far as it goes back, each revision is one event. */
async function checkHistory(backend: Backend): Promise<void> {
  const current = await backend.currentRevision();
  const from = await backend.list('/', { revision: 0 }).then(
    () => 0,
    (error: unknown) => (error instanceof CompactedError ? error.oldest : assert.fail(String(error))),
  );
  const read = await readUntil(backend.watch('/', from, new AbortController().signal), current);
  assert.deepEqual(
    read.map(({ revision }) => revision),
    Array.from({ length: current - from }, (_, i) => from + i + 1),
  );
}
