/** Ends the process that runs the controllers at chosen calls to the server, or loses the answer of one. */
import type { Client } from '../runtime/client.js';
import { ConnectionError } from '../runtime/errors.js';
import { overriding } from '../runtime/testing/overriding.js';

/** `before`: the call never reaches the server. `after`: it does, and nobody hears of it. `lost`: as `after`, but the process lives on. */
export const killModes = ['before', 'after', 'lost'] as const;
export type KillMode = (typeof killModes)[number];

const never = new Promise<never>(() => undefined);

export class KillSwitch {
  /** How many calls there were, of all processes. */
  calls = 0;
  /** How many of them were points, by who called. */
  readonly struck = new Map<string, number>();
  #caller = '';
  #alive: { dead: boolean } = { dead: false };

  /** `points`: what happens at which call, counted from 0. */
  constructor(private readonly points: ReadonlyMap<number, KillMode>) {}

  /** The process that was started last has been killed. */
  get killed(): boolean {
    return this.#alive.dead;
  }

  /** Of a new process. */
  readonly through = (client: Client): Client => {
    const process = { dead: false };
    this.#alive = process;
    const call = async <T>(send: () => Promise<T>): Promise<T> => {
      if (process.dead) return never;
      const mode = this.points.get(this.calls++);
      if (mode === undefined) return send();
      this.struck.set(this.#caller, (this.struck.get(this.#caller) ?? 0) + 1);
      process.dead = mode !== 'lost';
      if (mode === 'before') return never;
      await send();
      if (process.dead) return never;
      throw new ConnectionError('the connection was reset');
    };
    return overriding(client, {
      get: (...args) => call(() => client.get(...args)),
      create: (...args) => call(() => client.create(...args)),
      update: (...args) => call(() => client.update(...args)),
      patch: (...args) => call(() => client.patch(...args)),
      delete: (...args) => call(() => client.delete(...args)),
      post: (...args) => call(() => client.post(...args)),
      async *watch(kind, params, signal) {
        for await (const event of client.watch(kind, params, signal)) {
          if (process.dead) await never;
          yield event;
        }
      },
    });
  };

  /** The client for one of the callers in a process. */
  as(caller: string, client: Client): Client {
    const called = (): Client => {
      this.#caller = caller;
      return client;
    };
    return overriding(client, {
      get: (...args) => called().get(...args),
      create: (...args) => called().create(...args),
      update: (...args) => called().update(...args),
      patch: (...args) => called().patch(...args),
      delete: (...args) => called().delete(...args),
      post: (...args) => called().post(...args),
    });
  }
}
