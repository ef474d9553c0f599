/** /healthz, /livez and /readyz: named checks, each reachable on its own. */
import type { Logger } from 'pino';
import type { BytesReply, RequestContext } from '../request.js';
import { pathNotFound, textReply } from '../http/status-reply.js';

export interface HealthCheck {
  readonly name: string;
  /** Rejects, with the reason, if it fails. */
  check(signal: AbortSignal): Promise<void> | void;
}

export interface HealthRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

export const healthEndpoints = ['healthz', 'livez', 'readyz'] as const;
export type HealthEndpoint = (typeof healthEndpoints)[number];

export const ping: HealthCheck = { name: 'ping', check: () => undefined };

export class HealthEndpoints {
  readonly #checks: Readonly<Record<HealthEndpoint, HealthCheck[]>> = {
    healthz: [],
    livez: [],
    readyz: [],
  };

  constructor(private readonly logger: Logger) {}

  add(endpoints: readonly HealthEndpoint[], check: HealthCheck): void {
    for (const endpoint of endpoints) this.#checks[endpoint].push(check);
  }

  handle(endpoint: HealthEndpoint, { info, query, signal }: RequestContext): Promise<BytesReply> {
    return this.answer(endpoint, { path: info.path, query, signal });
  }

  /** Answers `/readyz`, `/readyz?verbose`, `/readyz?exclude=name` and `/readyz/name`. */
  async answer(endpoint: HealthEndpoint, request: HealthRequest): Promise<BytesReply> {
    const checks = this.#checks[endpoint];
    const [only] = request.path.split('/').slice(2);
    if (only !== undefined && only !== '') {
      const check = checks.find(({ name }) => name === only);
      if (check === undefined) return pathNotFound();
      const failure = await this.#run(endpoint, check, request.signal);
      return failure === undefined
        ? textReply(200, 'ok', noStore)
        : textReply(500, `internal server error: ${failure}\n`, noStore);
    }
    return this.#all(endpoint, checks, request);
  }

  async #all(
    endpoint: HealthEndpoint,
    checks: readonly HealthCheck[],
    { query, signal }: HealthRequest,
  ): Promise<BytesReply> {
    const excluded = new Set(query.getAll('exclude'));
    const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name));
    const results = await Promise.all(
      checks.map(async (check) => {
        if (excluded.has(check.name)) return { line: `[+]${check.name} excluded: ok\n`, failed: false };
        const failure = await this.#run(endpoint, check, signal);
        return failure === undefined
          ? { line: `[+]${check.name} ok\n`, failed: false }
          : { line: `[-]${check.name} failed: reason withheld\n`, failed: true };
      }),
    );
    const lines = results.map(({ line }) => line).join('');
    const warnings =
      unknown.length === 0
        ? ''
        : `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(', ')}\n`;
    if (results.some(({ failed }) => failed)) {
      return textReply(500, `${lines}${warnings}${endpoint} check failed\n`, noStore);
    }
    if (!query.has('verbose')) return textReply(200, 'ok', noStore);
    return textReply(200, `${lines}${warnings}${endpoint} check passed\n`, noStore);
  }

  /** The reason goes to the log only: these paths are open to everybody. */
  async #run(endpoint: HealthEndpoint, check: HealthCheck, signal: AbortSignal): Promise<string | undefined> {
    try {
      await check.check(signal);
      return undefined;
    } catch (error) {
      this.logger.warn({ err: error, check: check.name, endpoint }, 'health check failed');
      return `${check.name} check failed`;
    }
  }
}

const noStore = { 'X-Content-Type-Options': 'nosniff' };
