/** Writes on top of a cache that is behind the store. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConflictError, UnavailableError } from '../../storage/errors.js';
import type { Entry } from '../../storage/interface.js';
import { virtualMachines } from '../resources/virtualmachines.js';
import type { Endpoint } from './endpoint.js';
import { onNewest } from './on-newest.js';

const entry = (revision: number): Entry => ({
  key: '/kubevirt.io/virtualmachines/n/vm',
  revision,
  bytes: Buffer.alloc(0),
  attributes: { namespace: 'n', name: 'vm', uid: 'u', labels: {}, fields: {}, cells: [] },
});

/** The cache has one revision, the store perhaps another; what was asked is noted. */
function endpointOf(
  cached: number | undefined,
  newest: number | undefined,
): { endpoint: Endpoint; asked: string[] } {
  const asked: string[] = [];
  const store = {
    get: (_key: string, { kind }: { readonly kind: string }) => {
      asked.push(kind);
      const revision = kind === 'any' ? cached : newest;
      return Promise.resolve(revision === undefined ? undefined : entry(revision));
    },
  };
  // Only these two of its parts are used here.
  return { endpoint: { resource: virtualMachines, store } as unknown as Endpoint, asked };
}

const reference = { namespace: 'n', name: 'vm' };
const attempts = 3;

test('a write that succeeds has shown that the cache was right: the store is not asked', async () => {
  const { endpoint, asked } = endpointOf(5, 5);
  const written = await onNewest(endpoint, reference, {
    attempts,
    attempt: ({ revision }) => Promise.resolve({ revision: revision + 1 }),
  });
  assert.deepEqual([written.revision, asked], [6, ['any']]);
});

test('nothing to write, and a refusal, count only for the newest state', async () => {
  for (const newest of [5, 8]) {
    const { endpoint, asked } = endpointOf(5, newest);
    const seen: number[] = [];
    const unchanged = await onNewest(endpoint, reference, {
      attempts,
      attempt: ({ revision }) => {
        seen.push(revision);
        return Promise.resolve({ revision });
      },
    });
    assert.deepEqual([unchanged.revision, asked], [newest, ['any', 'newest']]);
    assert.deepEqual(seen, newest === 5 ? [5] : [5, 8]);
  }
  const { endpoint } = endpointOf(5, 8);
  const attempt = ({ revision }: Entry): Promise<{ revision: number }> =>
    revision === 5 ? Promise.reject(new Error('refused')) : Promise.resolve({ revision: 9 });
  assert.equal((await onNewest(endpoint, reference, { attempts, attempt })).revision, 9);
  const refused = endpointOf(5, 5).endpoint;
  await assert.rejects(onNewest(refused, reference, { attempts, attempt }), /^Error: refused$/);
});

test('what the cache does not know yet is asked for; what nobody knows is not found', async () => {
  const attempt = ({ revision }: Entry): Promise<{ revision: number }> => Promise.resolve({ revision });
  const late = endpointOf(undefined, 3).endpoint;
  assert.equal((await onNewest(late, reference, { attempts, attempt })).revision, 3);
  const none = endpointOf(undefined, undefined).endpoint;
  await assert.rejects(onNewest(none, reference, { attempts, attempt }), { code: 404 });
  const gone = endpointOf(3, undefined).endpoint;
  await assert.rejects(onNewest(gone, reference, { attempts, attempt }), { code: 404 });
});

test('a conflict brings the newest state; too many of them are told', async () => {
  const { endpoint, asked } = endpointOf(5, 5);
  let newest = 5;
  const attempt = ({ revision, key }: Entry): Promise<{ revision: number }> => {
    assert.equal(revision, newest);
    newest++;
    return Promise.reject(new ConflictError(key, entry(newest)));
  };
  await assert.rejects(onNewest(endpoint, reference, { attempts, attempt }), { code: 409 });
  assert.deepEqual([newest, asked], [8, ['any']]);
});

test('a write without an answer is never tried again: it may have been done', async () => {
  const { endpoint } = endpointOf(5, 6);
  let tries = 0;
  const attempt = (): Promise<{ revision: number }> => {
    tries++;
    return Promise.reject(new UnavailableError('no answer', { uncertain: true }));
  };
  await assert.rejects(onNewest(endpoint, reference, { attempts, attempt }), UnavailableError);
  assert.equal(tries, 1);
});
