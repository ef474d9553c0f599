/** What etcd itself can do here: the writes of the API benchmark by a client that does nothing else. */
import { EtcdConnection } from '../../storage/etcd/connection.js';
import type { WriteRates } from './api.js';

/** Writes a second, of `count` values of `bytes`, `concurrency` at a time. */
export async function bareWrites(
  endpoints: readonly string[],
  count: number,
  concurrency: number,
  bytes: number,
): Promise<WriteRates> {
  const connection = new EtcdConnection({ endpoints });
  const run = process.hrtime.bigint();
  const key = (index: number): Buffer => Buffer.from(`/bare/${run}/default/vmi-${index}`);
  const revisions: number[] = [];
  const write = async (index: number, value: Buffer | undefined): Promise<void> => {
    const { succeeded, header } = await connection.call('Txn', {
      compare: [{ result: 0, target: 2, key: key(index), modRevision: revisions[index] ?? 0 }],
      success: [value ? { put: { key: key(index), value } } : { deleteRange: { key: key(index) } }],
      failure: [{ range: { key: key(index) } }],
    });
    if (!succeeded) throw new Error(`bare write ${index} was not done`);
    revisions[index] = header.revision;
  };
  const rate = async (value: Buffer | undefined): Promise<number> => {
    let next = 0;
    const begin = performance.now();
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (let index = next++; index < count; index = next++) await write(index, value);
      }),
    );
    return (count * 1000) / (performance.now() - begin);
  };
  try {
    return {
      create: await rate(Buffer.alloc(bytes, 'a')),
      'merge patch': await rate(Buffer.alloc(bytes, 'b')),
      delete: await rate(undefined),
    };
  } finally {
    connection.close();
  }
}
