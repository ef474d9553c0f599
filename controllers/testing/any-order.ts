/** A way to the server on which requests, answers and events come in whatever order fast-check's scheduler chooses. */
import type fc from 'fast-check';
import type { Client } from '../runtime/client.js';
import { settle } from '../runtime/testing/fake-clock.js';

/** Events of one watch keep their order, as they do on a connection. */
export function inAnyOrder(client: Client, scheduler: fc.Scheduler): Client {
  const turn = (label: string): Promise<void> => scheduler.schedule(Promise.resolve(), label);
  const call = async <T>(what: string, send: () => Promise<T>): Promise<T> => {
    await turn(`request ${what}`);
    try {
      return await send();
    } finally {
      await turn(`answer ${what}`);
    }
  };
  return {
    get: (kind, ...rest) => call(`get ${kind.resource}`, () => client.get(kind, ...rest)),
    list: (kind, ...rest) => call(`list ${kind.resource}`, () => client.list(kind, ...rest)),
    async *watch(kind, params, signal) {
      for await (const event of client.watch(kind, params, signal)) {
        await turn(`event ${kind.resource}`);
        yield event;
      }
    },
    create: (kind, ...rest) => call(`create ${kind.resource}`, () => client.create(kind, ...rest)),
    update: (kind, ...rest) => call(`update ${kind.resource}`, () => client.update(kind, ...rest)),
    patch: (kind, ...rest) => call(`patch ${kind.resource}`, () => client.patch(kind, ...rest)),
    delete: (kind, ...rest) => call(`delete ${kind.resource}`, () => client.delete(kind, ...rest)),
    post: (kind, ...rest) => call(`post ${kind.resource}`, () => client.post(kind, ...rest)),
  };
}

/** Lets so many things happen, if there are so many; all that wait, and what comes of them, by default. */
export async function happen(scheduler: fc.Scheduler, most = Number.POSITIVE_INFINITY): Promise<void> {
  await settle();
  for (let done = 0; done < most && scheduler.count() > 0; done++) {
    await scheduler.waitNext(1);
    if (scheduler.count() === 0) await settle();
  }
}
