import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import test from 'node:test';
import { pino } from 'pino';
import { openLevelBackend } from '../../storage/level/backend.js';
import { openStore } from './store.js';

test('a new key file is taken while the store is open, and a broken one changes nothing', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-store-'));
  t.after(() => rm(directory, { recursive: true }));
  const log = new PassThrough();
  const logger = pino({}, log);
  const file = path.join(directory, 'encryption.json');
  const keys = (...names: string[]): string =>
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [
        {
          resources: ['*.*'],
          providers: names.map((name) => ({
            aesgcm: { keys: [{ name, secret: Buffer.alloc(32, name).toString('base64') }] },
          })),
        },
      ],
    });
  /** As a Secret's volume changes: whole. */
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${file}.new`, text);
    const noted = once(log, 'data');
    await rename(`${file}.new`, file);
    await noted;
  };
  const options = {
    kind: 'level',
    directory: path.join(directory, 'store'),
    encryptionConfigFile: file,
  } as const;
  const key = (name: string): string => `/kubevirt.io/virtualmachines/ns/${name}`;
  await writeFile(file, keys('one'));
  const store = await openStore(options, logger);
  const { backend } = store;
  const write = (name: string): Promise<unknown> =>
    backend.write({ key: key(name), expect: 0, value: Buffer.from(name) });
  await write('a');
  await replace(keys('two', 'one'));
  await write('b');
  await replace('{}');
  await write('c');
  for (const name of ['a', 'b', 'c']) assert.equal((await backend.get(key(name))).kv?.value.toString(), name);
  await store.close();
  const plain = await openLevelBackend({ directory: options.directory, logger });
  t.after(() => plain.close());
  const writers = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => (await plain.get(key(name))).kv?.value.toString().split(':')[4]),
  );
  assert.deepEqual(writers, ['one', 'two', 'two']);
});
