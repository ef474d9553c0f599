/** A puller with a registry of its own, for tests. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isImageError, type ImageErrorCode } from '../errors.js';
import { ImagePuller, type PullerOptions, type PullRequest } from '../puller.js';
import { ImageStore } from '../store.js';
import { TestRegistry } from './registry.js';

export const disk = ['/disk/'];

export async function setUp(t: TestContext, options: Partial<PullerOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-images-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const registry = await TestRegistry.start();
  t.after(() => registry.stop());
  const store = await ImageStore.open(join(directory, 'images'));
  const puller = new ImagePuller({
    store,
    layoutDirectories: [directory],
    platform: { os: 'linux', architecture: 'amd64' },
    backoff: { attempts: 4, firstDelayMilliseconds: 1, maximumDelayMilliseconds: 5 },
    ...options,
  });
  const pull = (request: Partial<PullRequest> & { image: string }, signal = new AbortController().signal) =>
    puller.pull({ wanted: disk, ...request }, signal);
  const content = async (request: Partial<PullRequest> & { image: string }): Promise<string> => {
    const { files } = await pull(request);
    const [file] = files.values();
    assert.ok(file);
    return readFile(file.path, 'utf8');
  };
  return { directory, registry, store, puller, pull, content };
}

export async function rejectsWith(
  promise: Promise<unknown>,
  code: ImageErrorCode,
  pattern: RegExp,
): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(isImageError(error, code), `${code} expected: ${String(error)}`);
    assert.match(error.message, pattern);
    return true;
  });
}

export async function leftovers(directory: string): Promise<string[]> {
  return readdir(join(directory, 'images', 'tmp'));
}
