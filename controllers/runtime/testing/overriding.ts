import type { Client } from '../client.js';

/** The client with some of its methods replaced. */
export function overriding(client: Client, methods: Partial<Client>): Client {
  return {
    get: (...call) => client.get(...call),
    list: (...call) => client.list(...call),
    watch: (...call) => client.watch(...call),
    create: (...call) => client.create(...call),
    update: (...call) => client.update(...call),
    patch: (...call) => client.patch(...call),
    delete: (...call) => client.delete(...call),
    post: (...call) => client.post(...call),
    ...methods,
  };
}
