/** One line a request: faults of ours as errors, slow answers as information, the rest for debugging. */
import type { Logger } from 'pino';
import type { Exchange } from '../http/exchange.js';

const slowMs = 1000;

export class RequestLog {
  constructor(private readonly logger: Logger) {}

  answered(exchange: Exchange, code: number, complete: boolean): void {
    if (exchange.failure !== undefined) {
      this.logger.error({ ...fields(exchange, code), err: exchange.failure }, 'request failed');
      return;
    }
    const slow = exchange.elapsedMs > slowMs && !isStream(exchange);
    if (!slow && !this.logger.isLevelEnabled('debug')) return;
    const level = slow ? 'info' : 'debug';
    this.logger[level](fields(exchange, code), complete ? 'request answered' : 'client left');
  }
}

function isStream(exchange: Exchange): boolean {
  return exchange.switched || exchange.info?.verb === 'watch';
}

/** Queries may hold what is not meant for logs, so only the path is written. */
function fields(exchange: Exchange, code: number): Record<string, unknown> {
  const { request, info, actor, auditId, trace } = exchange;
  return {
    method: request.method,
    path: info?.path,
    verb: info?.verb,
    user: actor?.name,
    userAgent: request.headers['user-agent'],
    code,
    ms: Math.round(exchange.elapsedMs),
    auditId,
    ...(trace === undefined ? {} : { traceId: trace.traceId }),
  };
}
