/** Writes audit events (audit.k8s.io/v1) for the stages of a request that the policy asks for. */
import { contentType } from '../codec/media-types.js';
import { decodeProtobuf, protobufType, WireError } from '../codec/protobuf/decode.js';
import type { Exchange } from '../http/exchange.js';
import type { ServerMetrics } from '../metrics/metrics.js';
import type { RequestInfo, UserInfo } from '../request.js';
import type { AuditLog } from './audit-log.js';
import type { AuditLevel, AuditPolicy, AuditStage, Verdict } from './policy.js';

export class AuditRecorder {
  readonly #verdicts = new WeakMap<Exchange, Verdict>();

  constructor(
    private readonly policy: AuditPolicy,
    private readonly log: AuditLog,
    private readonly metrics: ServerMetrics,
  ) {}

  /** The sender is known; nothing has been decided yet. */
  received(exchange: Exchange): void {
    const verdict = this.#verdict(exchange);
    if (verdict === undefined) return;
    exchange.keepResponse = verdict.level === 'RequestResponse';
    this.#write(exchange, 'RequestReceived', verdict, undefined);
  }

  /** The head of the answer to a long-running request is about to be sent. */
  responseStarted(exchange: Exchange, code: number): void {
    const verdict = this.#verdict(exchange);
    if (verdict !== undefined) this.#write(exchange, 'ResponseStarted', verdict, code);
  }

  completed(exchange: Exchange, code: number): void {
    const verdict = this.#verdict(exchange);
    if (verdict !== undefined) this.#write(exchange, 'ResponseComplete', verdict, code);
  }

  /** `undefined` for what is not logged, and for senders that are not known: their requests were not let in. */
  #verdict(exchange: Exchange): Verdict | undefined {
    const { info, user } = exchange;
    if (info === undefined || user === undefined) return undefined;
    let verdict = this.#verdicts.get(exchange);
    if (verdict === undefined) {
      verdict = this.policy.evaluate(user, info);
      this.#verdicts.set(exchange, verdict);
    }
    return verdict.level === 'None' ? undefined : verdict;
  }

  #write(exchange: Exchange, stage: AuditStage, verdict: Verdict, code: number | undefined): void {
    const { info, user } = exchange;
    if (info === undefined || user === undefined || verdict.omitStages.has(stage)) return;
    const event = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: verdict.level,
      auditID: exchange.auditId,
      stage,
      requestURI: exchange.request.url,
      verb: info.isResource ? info.verb : info.method.toLowerCase(),
      user: userFields(user),
      ...(exchange.impersonated === undefined ? {} : { impersonatedUser: userFields(exchange.impersonated) }),
      sourceIPs: sourceAddresses(exchange),
      userAgent: exchange.request.headers['user-agent'],
      ...(info.isResource ? { objectRef: objectReference(info, exchange.objectName) } : {}),
      ...(code === undefined ? {} : { responseStatus: { metadata: {}, code } }),
      ...bodies(exchange, stage, verdict.level),
      requestReceivedTimestamp: microTime(exchange.receivedAt),
      stageTimestamp: microTime(exchange.receivedAt + exchange.elapsedMs),
      ...annotations(exchange),
    };
    this.metrics.auditEvents.inc();
    this.log.write(JSON.stringify(event), () => {
      this.metrics.auditErrors.inc();
    });
  }
}

function userFields(user: UserInfo): Record<string, unknown> {
  return {
    username: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    groups: user.groups,
    ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  };
}

function objectReference(info: RequestInfo, objectName: string | undefined): Record<string, unknown> {
  const { name = objectName } = info;
  return {
    resource: info.resource,
    ...(info.namespace === undefined ? {} : { namespace: info.namespace }),
    ...(name === undefined ? {} : { name }),
    ...(info.group === '' ? {} : { apiGroup: info.group }),
    apiVersion: info.version,
    ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
  };
}

/** As proxies in front of us claim it, then who really sent it. */
function sourceAddresses(exchange: Exchange): string[] {
  const forwarded = exchange.request.headers['x-forwarded-for'];
  const claimed = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? ''))
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  const { remoteAddress } = exchange.request.socket;
  return remoteAddress === undefined || claimed.at(-1) === remoteAddress
    ? claimed
    : [...claimed, remoteAddress];
}

function bodies(exchange: Exchange, stage: AuditStage, level: AuditLevel): Record<string, unknown> {
  if (stage !== 'ResponseComplete' || level === 'Metadata') return {};
  const request = sent(exchange);
  const response = level === 'RequestResponse' ? json(Buffer.concat(exchange.responseChunks)) : undefined;
  return {
    ...(request === undefined ? {} : { requestObject: request }),
    ...(response === undefined ? {} : { responseObject: response }),
  };
}

function sent({ request, body }: Exchange): unknown {
  if (contentType(request.headers['content-type']) !== protobufType) return json(body);
  try {
    return decodeProtobuf(body);
  } catch (error) {
    // The client is told; there is no text of it to record.
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** What is not JSON (YAML, a patch cut short) is told as text. */
function json(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const text = bytes.toString('utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function annotations(exchange: Exchange): Record<string, unknown> {
  const { decision } = exchange;
  const all = {
    ...(decision === undefined
      ? {}
      : {
          'authorization.k8s.io/decision': decision.allowed ? 'allow' : 'forbid',
          'authorization.k8s.io/reason': decision.reason,
        }),
    ...Object.fromEntries(exchange.annotations),
  };
  return Object.keys(all).length === 0 ? {} : { annotations: all };
}

/** RFC 3339 with microseconds, as Kubernetes' MicroTime. */
function microTime(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const micros = Math.floor((milliseconds - whole) * 1000);
  return new Date(whole).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);
}
