/** The way of every request: info → who → as whom → capacity → may → body → answer. Upgrades take the same way. */
import type { Socket } from 'node:net';
import { parseDurationMs } from '../../openapi/duration.js';
import type { AuditRecorder } from '../audit/recorder.js';
import { AuthenticatorChain, unauthorized } from '../authn/authenticator.js';
import { credentialsOf } from '../authn/credentials.js';
import { impersonate, requestedUser } from '../authn/impersonation.js';
import { mastersGroup } from '../authz/always-allow.js';
import { attributesOf } from '../authz/authorizer.js';
import { forbidden } from '../authz/forbidden.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import { toApiError } from '../errors/status.js';
import { InFlightLimiter, type RequestKind } from '../flowcontrol/in-flight.js';
import { healthEndpoints } from '../health/health.js';
import type { Exchange } from '../http/exchange.js';
import { hasBody, maxBodyBytes, readBody } from '../http/read-body.js';
import { ClientGone, ServerStopping } from '../http/request-scope.js';
import { statusReply } from '../http/status-reply.js';
import { switchProtocols } from '../http/upgrade.js';
import { discardReply, writeReply } from '../http/write-reply.js';
import type { ServerMetrics } from '../metrics/metrics.js';
import { isLongRunning, parseRequestInfo } from '../request-info.js';
import type { RequestContext, RequestInfo, UserInfo } from '../request.js';
import type { Connection } from '../subresources/interface.js';
import type { CompletedConfig } from './config.js';
import { ServerRequestContext } from './context.js';
import { RequestLog } from './request-log.js';
import type { Outcome, Router } from './router.js';

const healthPath = new RegExp(`^/(${healthEndpoints.join('|')})(/|$)`);

export class Pipeline {
  readonly #authenticators: AuthenticatorChain;
  readonly #limiter: InFlightLimiter;
  readonly #log: RequestLog;
  readonly #inFlight = new Set<Exchange>();
  /** Watches and streams, which end when the server stops. */
  readonly #longRunning = new Set<Exchange>();
  #stopping = false;

  constructor(
    private readonly config: CompletedConfig,
    private readonly router: Router,
    private readonly metrics: ServerMetrics,
    private readonly audit: AuditRecorder | undefined,
  ) {
    this.#authenticators = new AuthenticatorChain(config.authenticators);
    this.#limiter = new InFlightLimiter(config.limits, (kind, current) => metrics.inFlight(kind, current));
    this.#log = new RequestLog(config.logger);
  }

  /** Ends watches and streams, and from now on closes each connection behind its answer. */
  stopLongRunning(): void {
    this.#stopping = true;
    for (const { response } of this.#inFlight) response.shouldKeepAlive = false;
    for (const exchange of this.#longRunning) exchange.scope.abort(new ServerStopping());
  }

  /** Whether a connection has a request that is not answered yet. */
  isBusy(socket: Socket): boolean {
    for (const { request } of this.#inFlight) if (request.socket === socket) return true;
    return false;
  }

  /** Resolves when the answer is written or the client has gone. Never rejects. */
  async serve(exchange: Exchange): Promise<void> {
    this.#inFlight.add(exchange);
    exchange.response.once('close', () => this.#closed(exchange));
    if (this.#stopping) exchange.response.shouldKeepAlive = false;
    try {
      await this.#answer(exchange);
    } catch (error) {
      await this.#refuse(exchange, error);
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    const info = parseTarget(exchange);
    this.#refuseBeforeStart(info);
    const sender = await this.#authenticate(exchange);
    this.#admit(exchange, info, sender);
    const user = await this.#actor(exchange, sender);
    this.audit?.received(exchange);
    await this.#authorize(exchange, info, user);
    if (hasBody(exchange.request)) {
      if (exchange.upgrade !== undefined) throw badRequest('a request with a body can not be upgraded');
      exchange.body = await exchange.scope.race(readBody(exchange.request, maxBodyBytes));
    }
    const context = new ServerRequestContext(exchange, info, user);
    const outcome = await this.#dispatch(exchange, context);
    if (outcome.kind === 'connection') {
      await this.#connect(exchange, outcome.connection);
      return;
    }
    if (outcome.reply.kind === 'stream') this.audit?.responseStarted(exchange, 200);
    await writeReply(exchange, outcome.reply);
  }

  /** Before anybody is asked who sends this: whom to ask may be what is waited for. */
  #refuseBeforeStart({ path }: RequestInfo): void {
    const waiting = this.config.startup();
    if (waiting === undefined || healthPath.test(path)) return;
    throw new ApiError('ServiceUnavailable', `the server is starting: ${waiting}`, { retryAfterSeconds: 1 });
  }

  async #dispatch({ request, scope, upgrade }: Exchange, context: RequestContext): Promise<Outcome> {
    const work = this.router.dispatch(context, upgrade === undefined ? undefined : request);
    try {
      return await scope.race(work);
    } catch (error) {
      // What comes too late must still let go of what it holds. That it may fail was told already.
      if (scope.reason !== undefined) work.then(discard).catch(() => undefined);
      throw error;
    }
  }

  async #authenticate(exchange: Exchange): Promise<UserInfo> {
    try {
      const signal = (): AbortSignal => exchange.scope.signal;
      const answer = this.#authenticators.authenticate(credentialsOf(exchange.request), signal);
      const found = answer instanceof Promise ? await exchange.scope.race(answer) : answer;
      if (found === undefined) throw unauthorized();
      this.metrics.authenticated('success');
      exchange.user = found.user;
      return found.user;
    } catch (error) {
      this.metrics.authenticated('failure');
      throw error;
    }
  }

  async #actor(exchange: Exchange, sender: UserInfo): Promise<UserInfo> {
    const requested = requestedUser(credentialsOf(exchange.request));
    if (requested === undefined) return sender;
    const signal = (): AbortSignal => exchange.scope.signal;
    exchange.impersonated = await impersonate(sender, requested, this.config.authorizer, signal);
    return exchange.impersonated;
  }

  /** Takes its share of the server's capacity; `#closed` gives it back. */
  #admit(exchange: Exchange, info: RequestInfo, user: UserInfo): void {
    if (isLongRunning(info)) {
      this.#longRunning.add(exchange);
      if (this.router.knows(info)) {
        exchange.uncount = this.metrics.longRunningStarted(info);
        if (info.verb === 'watch') exchange.countEvents = this.metrics.watchCounter(info);
      }
      if (this.#stopping) throw new ServerStopping();
      return;
    }
    exchange.scope.setDeadline(this.#timeoutMs(exchange));
    // Discovery and health are served from memory and must never wait behind other work.
    if (!info.isResource) return;
    const kind: RequestKind = readVerbs.has(info.verb) ? 'readOnly' : 'mutating';
    try {
      this.#limiter.acquire(kind, user.groups.includes(mastersGroup));
    } catch (error) {
      this.metrics.rejected(kind);
      throw error;
    }
    exchange.capacity = kind;
  }

  #timeoutMs(exchange: Exchange): number {
    const asked = exchange.query.get('timeout');
    if (asked === null || asked === '') return this.config.requestTimeoutMs;
    const milliseconds = parseDurationMs(asked);
    if (milliseconds === undefined) {
      throw badRequest(`invalid timeout "${asked.slice(0, 40)}": a duration like 30s is needed`);
    }
    return milliseconds === 0
      ? this.config.requestTimeoutMs
      : Math.min(milliseconds, this.config.requestTimeoutMs);
  }

  async #authorize(exchange: Exchange, info: RequestInfo, user: UserInfo): Promise<void> {
    const attributes = attributesOf(user, info);
    const answer = this.config.authorizer.authorize(attributes, () => exchange.scope.signal);
    const decision = answer instanceof Promise ? await exchange.scope.race(answer) : answer;
    exchange.decision = { allowed: decision.effect === 'allow', reason: decision.reason };
    if (decision.effect !== 'allow') throw forbidden(attributes, decision.reason);
  }

  async #connect(exchange: Exchange, connection: Connection): Promise<void> {
    const { upgrade, scope } = exchange;
    if (upgrade === undefined || scope.reason !== undefined || upgrade.socket.destroyed) {
      connection.abandon();
      return;
    }
    this.audit?.responseStarted(exchange, 101);
    await switchProtocols(exchange, upgrade, connection);
  }

  async #refuse(exchange: Exchange, error: unknown): Promise<void> {
    if (error instanceof ClientGone || exchange.response.destroyed) return;
    const { info } = exchange;
    const refusal =
      error instanceof ServerStopping
        ? unavailable(error)
        : toApiError(error, info?.isResource === true ? info : undefined);
    if (refusal.code >= 500) exchange.failure = error;
    if (refusal.reason === 'Timeout') this.metrics.timedOut();
    if (exchange.response.headersSent) {
      // Half an answer can not be taken back: a broken connection tells the client that it is not whole.
      exchange.response.destroy();
      return;
    }
    await writeReply(exchange, statusReply(refusal)).catch((cause: unknown) => {
      exchange.failure = cause;
      exchange.response.destroy();
    });
  }

  #closed(exchange: Exchange): void {
    this.#inFlight.delete(exchange);
    this.#longRunning.delete(exchange);
    // An answer that had begun before the server was told to stop has promised to keep its connection.
    if (this.#stopping) exchange.request.socket.destroySoon();
    exchange.scope.clearDeadline();
    if (exchange.capacity !== undefined) this.#limiter.release(exchange.capacity);
    exchange.uncount?.();
    const { response, info } = exchange;
    const complete = response.writableFinished || exchange.switched;
    if (!complete) exchange.scope.abort(new ClientGone());
    const code = exchange.switched ? 101 : response.statusCode;
    if (info !== undefined && this.router.knows(info)) {
      if (!complete) this.metrics.clientLeft(info);
      this.metrics.answered(info, {
        code,
        dryRun: exchange.query.has('dryRun'),
        seconds: isLongRunning(info) ? undefined : exchange.elapsedMs / 1000,
        bytes: exchange.bytesWritten,
      });
    }
    this.audit?.completed(exchange, code);
    this.#log.answered(exchange, code, complete);
  }
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

function discard(outcome: Outcome): Promise<void> {
  if (outcome.kind === 'reply') return discardReply(outcome.reply);
  outcome.connection.abandon();
  return Promise.resolve();
}

function unavailable(error: Error): ApiError {
  return new ApiError('ServiceUnavailable', error.message, { retryAfterSeconds: 1 });
}

/** The request line: usually a path, but `http://host/path` is allowed too. */
function parseTarget(exchange: Exchange): RequestInfo {
  const { method = 'GET', url = '/' } = exchange.request;
  const target = /^https?:\/\/[^/?]*/i.exec(url);
  const local = target === null ? url : url.slice(target[0].length) || '/';
  const mark = local.indexOf('?');
  const path = mark < 0 ? local : local.slice(0, mark);
  if (!path.startsWith('/')) throw badRequest('the request target is not a path');
  if (mark >= 0) exchange.query = new URLSearchParams(local.slice(mark + 1));
  const info = parseRequestInfo(method, path, exchange.query);
  if (info.verb === 'watch' && method === 'HEAD') {
    throw new ApiError('MethodNotAllowed', 'a watch has no head without its body: use GET');
  }
  exchange.info = info;
  return info;
}
