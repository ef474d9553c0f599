import type { Client } from './client.js';

/** The client, whose writes call `check` first: what that throws is their answer, and nothing is sent. */
export function gatedWrites(client: Client, check: () => void): Client {
  const gated = async <T>(send: () => Promise<T>): Promise<T> => {
    check();
    return send();
  };
  return {
    get: (...call) => client.get(...call),
    list: (...call) => client.list(...call),
    watch: (...call) => client.watch(...call),
    create: (...call) => gated(() => client.create(...call)),
    update: (...call) => gated(() => client.update(...call)),
    patch: (...call) => gated(() => client.patch(...call)),
    delete: (...call) => gated(() => client.delete(...call)),
    post: (...call) => gated(() => client.post(...call)),
  };
}
