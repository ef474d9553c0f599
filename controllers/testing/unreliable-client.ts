/** A way to the server on which events are held up, requests refused and answers lost, as a test wants it. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client, Kind } from '../runtime/client.js';
import { ConnectionError } from '../runtime/errors.js';
import { overriding } from '../runtime/testing/overriding.js';
import { statusError } from '../runtime/testing/status-error.js';

export class UnreliableWay {
  /** How many of the next creations are refused. */
  refusals = 0;
  /** How many of the next creations succeed without an answer. */
  losses = 0;
  readonly #held = new Map<string, { released: Promise<void>; release: () => void }>();

  /** The kind whose creations fail. */
  constructor(private readonly made: Kind<KubernetesObject>) {}

  /** Informers of the kind see nothing new until `release`. */
  hold<T extends KubernetesObject>({ resource }: Kind<T>): void {
    if (this.#held.has(resource)) return;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#held.set(resource, { released, release });
  }

  release(): void {
    for (const { release } of this.#held.values()) release();
    this.#held.clear();
  }

  readonly through = (client: Client): Client => {
    const held = this.#held;
    return overriding(client, {
      watch: async function* (kind, params, signal) {
        for await (const event of client.watch(kind, params, signal)) {
          await held.get(kind.resource)?.released;
          yield event;
        }
      },
      create: async (kind, object, signal) => {
        if (kind.resource !== this.made.resource) return client.create(kind, object, signal);
        if (this.refusals > 0) {
          this.refusals -= 1;
          throw statusError('Forbidden', kind, object.metadata.name);
        }
        const created = await client.create(kind, object, signal);
        if (this.losses === 0) return created;
        this.losses -= 1;
        throw new ConnectionError('the connection was reset');
      },
    });
  };
}
