/** The API servers of a run, and how to speak to each. */
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import type { Credentials } from '../../controllers/runtime/transport.js';
import type { Surroundings } from '../cluster/cluster.js';
import { startReplicaProcess, type ReplicaProcess } from '../cluster/replica-process.js';

export class Replica {
  readonly #start: () => Promise<ReplicaProcess>;
  readonly #credentials: Credentials;
  #process: ReplicaProcess | undefined;
  #client: HttpClient | undefined;

  constructor(
    readonly index: number,
    surroundings: Surroundings,
    flags: readonly string[],
  ) {
    this.#start = () => startReplicaProcess(surroundings, flags);
    this.#credentials = {
      ca: surroundings.ca,
      ...surroundings.issue('chaos', 'client', 'system:masters'),
    };
  }

  /** Undefined while it is down. One that was got before is of no use after a start. */
  get client(): HttpClient | undefined {
    return this.#client;
  }

  async start(): Promise<void> {
    this.#process = await this.#start();
    this.#client = createHttpClient({
      server: `https://localhost:${this.#process.port}`,
      credentials: () => Promise.resolve(this.#credentials),
      userAgent: 'chaos',
      requestTimeout: 20_000,
    });
  }

  /** Its exit status: undefined if it was not running, null if it was killed. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null | undefined> {
    const status = await this.#process?.end(signal);
    this.#process = undefined;
    this.#client?.close();
    this.#client = undefined;
    return status;
  }
}
