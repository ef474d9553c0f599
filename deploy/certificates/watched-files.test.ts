import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { createAuthority, issueLeaf } from '../../apiserver/pki/authority.js';
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { WatchedFiles, watchCredentials } from './watched-files.js';

const validity = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 };
const authority = createAuthority('test', validity);
const issue = (commonName: string): KeyPair =>
  issueLeaf(authority, { commonName, usages: ['server'] }, validity);

async function scratch(t: test.TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-files-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

/** As a kubelet does: the files are links into `..data`, which is a link that is replaced. */
async function mountSecret(directory: string, version: number, { cert, key }: KeyPair): Promise<void> {
  await mkdir(path.join(directory, `..${version}`));
  await writeFile(path.join(directory, `..${version}`, 'tls.crt'), cert);
  await writeFile(path.join(directory, `..${version}`, 'tls.key'), key);
  await writeFile(path.join(directory, `..${version}`, 'ca.crt'), authority.cert);
  await symlink(`..${version}`, path.join(directory, '..data_tmp'));
  await rename(path.join(directory, '..data_tmp'), path.join(directory, '..data'));
  if (version === 1)
    for (const file of ['tls.crt', 'tls.key', 'ca.crt'])
      await symlink(`..data/${file}`, path.join(directory, file));
}

test("a Secret's volume: each version is read, whole", async (t) => {
  const directory = await scratch(t);
  const pairs = [1, 2, 3].map((version) => issue(`v${version}`));
  const [first = issue(''), ...others] = pairs;
  await mountSecret(directory, 1, first);
  const file = (name: string): string => path.join(directory, name);
  const files = { cert: file('tls.crt'), key: file('tls.key'), ca: file('ca.crt') };
  const watched = await watchCredentials(files, new SilentLogger());
  t.after(() => watched.close());
  assert.deepEqual(watched.current, { ...first, ca: authority.cert });
  for (const [index, pair] of others.entries()) {
    const changed = new Promise<void>((resolve) => watched.onChange(resolve));
    await mountSecret(directory, index + 2, pair);
    await changed;
    assert.deepEqual(watched.current, { ...pair, ca: authority.cert });
  }
});

test('files that do not fit are left alone until they do', async (t) => {
  const directory = await scratch(t);
  const file = path.join(directory, 'number');
  await writeFile(file, '1');
  const clock = new FakeClock();
  const parse = (text = ''): number => {
    if (!/^\d+$/.test(text)) throw new Error(`${text} is no number`);
    return Number(text);
  };
  const watched = await WatchedFiles.open({ paths: [file], parse, logger: new SilentLogger(), clock });
  t.after(() => watched.close());
  const changed = new Promise<void>((resolve) => watched.onChange(resolve));
  await writeFile(file, 'two');
  await clock.advance(60_000);
  await rm(file);
  await clock.advance(60_000);
  assert.equal(watched.current, 1);
  await writeFile(file, '3');
  // Whether or not the file system has told of it.
  await clock.advance(60_000);
  await changed;
  assert.equal(watched.current, 3);
  await rm(file);
  await assert.rejects(
    WatchedFiles.open({ paths: [file], parse, logger: new SilentLogger() }),
    /ENOENT.*number/,
  );
});

test('a neighbour that is written without pause, as a log is, holds up no change', async (t) => {
  const directory = await scratch(t);
  const file = path.join(directory, 'number');
  await writeFile(file, '1');
  const watched = await WatchedFiles.open({ paths: [file], parse: Number, logger: new SilentLogger() });
  t.after(() => watched.close());
  const log = path.join(directory, 'log');
  const writing = setInterval(() => {
    appendFileSync(log, 'a line\n');
  }, 20);
  t.after(() => {
    clearInterval(writing);
  });
  const changed = new Promise<void>((resolve) => watched.onChange(resolve));
  await writeFile(file, '2');
  await changed;
  assert.equal(watched.current, 2);
});
