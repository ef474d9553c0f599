/**
 * The server's metrics, under the names that kube-apiserver uses, so that its dashboards and alerts work. Labels are few:
 * no namespace, no user, no name.
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { RequestKind } from '../flowcontrol/in-flight.js';
import type { RequestInfo } from '../request.js';
import { authorizedSubresource } from '../request-info.js';

const durationBuckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 3, 5, 10, 30, 60];
const sizeBuckets = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

export interface StorageCount {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
}

export class ServerMetrics {
  readonly registry = new Registry();
  readonly #requests: Counter<
    'verb' | 'dry_run' | 'group' | 'version' | 'resource' | 'subresource' | 'scope' | 'code'
  >;
  readonly #durations: Histogram<'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'scope'>;
  readonly #sizes: Histogram<'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'scope'>;
  readonly #inFlight: Gauge<'request_kind'>;
  readonly #longRunning: Gauge<'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'scope'>;
  readonly #rejected: Counter<'request_kind'>;
  readonly #timeouts: Counter;
  readonly #aborts: Counter<'verb' | 'group' | 'resource'>;
  readonly #tlsErrors: Counter;
  readonly #targets = new Map<string, Target>();
  readonly #watchEvents: Counter<'group' | 'version' | 'resource'>;
  readonly auditEvents: Counter;
  readonly auditErrors: Counter;
  readonly #authentications: Counter<'result'>;

  constructor(countObjects: () => readonly StorageCount[]) {
    const registers = [this.registry];
    const target = ['verb', 'group', 'version', 'resource', 'subresource', 'scope'] as const;
    const counter = <T extends string>(
      name: string,
      help: string,
      labelNames: readonly T[] = [],
    ): Counter<T> => new Counter({ name, help, labelNames, registers });
    const gauge = <T extends string>(name: string, help: string, labelNames: readonly T[]): Gauge<T> =>
      new Gauge({ name, help, labelNames, registers });
    this.#requests = counter('apiserver_request_total', 'Requests answered, by target and status code.', [
      ...target,
      'dry_run',
      'code',
    ]);
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer, long-running requests left out.',
      labelNames: target,
      buckets: durationBuckets,
      registers,
    });
    this.#sizes = new Histogram({
      name: 'apiserver_response_sizes',
      help: 'Bytes of the bodies of answers to reads.',
      labelNames: target,
      buckets: sizeBuckets,
      registers,
    });
    this.#inFlight = gauge('apiserver_current_inflight_requests', 'Requests being served.', ['request_kind']);
    this.#longRunning = gauge('apiserver_longrunning_requests', 'Watches and streams being served.', target);
    this.#rejected = counter('apiserver_dropped_requests_total', 'Requests refused with 429.', [
      'request_kind',
    ]);
    this.#timeouts = counter(
      'apiserver_request_terminations_total',
      'Requests ended because their time was over.',
    );
    this.#aborts = counter(
      'apiserver_request_aborts_total',
      'Requests whose client left before the answer.',
      ['verb', 'group', 'resource'],
    );
    this.#tlsErrors = counter('apiserver_tls_handshake_errors_total', 'TLS handshakes that failed.');
    this.#watchEvents = counter('apiserver_watch_events_total', 'Events sent to watchers.', [
      'group',
      'version',
      'resource',
    ]);
    this.auditEvents = counter('apiserver_audit_event_total', 'Audit events written.');
    this.auditErrors = counter('apiserver_audit_error_total', 'Audit events lost to an error.');
    this.#authentications = counter(
      'authentication_attempts',
      'Requests by whether their sender could be told.',
      ['result'],
    );
    this.#registerObjectCounts(countObjects);
    collectDefaultMetrics({ register: this.registry });
  }

  #registerObjectCounts(countObjects: () => readonly StorageCount[]): void {
    new Gauge({
      name: 'apiserver_storage_objects',
      help: 'Stored objects, by resource.',
      labelNames: ['resource'],
      registers: [this.registry],
      collect() {
        for (const { group, resource, count } of countObjects()) {
          this.set({ resource: group === '' ? resource : `${resource}.${group}` }, count);
        }
      },
    });
  }

  /** Counts the events that one watch sends. */
  watchCounter({ group, version, resource }: RequestInfo): (events: number) => void {
    const counter = this.#watchEvents.labels({ group, version, resource });
    return (events) => {
      counter.inc(events);
    };
  }

  authenticated(result: 'success' | 'failure'): void {
    this.#authentications.inc({ result });
  }

  inFlight(kind: RequestKind, current: number): void {
    this.#inFlight.set({ request_kind: kind }, current);
  }

  rejected(kind: RequestKind): void {
    this.#rejected.inc({ request_kind: kind });
  }

  timedOut(): void {
    this.#timeouts.inc();
  }

  clientLeft(info: RequestInfo): void {
    this.#aborts.inc({ verb: verbLabel(info), group: info.group, resource: info.resource });
  }

  tlsError(): void {
    this.#tlsErrors.inc();
  }

  longRunningStarted(info: RequestInfo): () => void {
    const labels = targetLabels(info);
    this.#longRunning.inc(labels);
    return () => this.#longRunning.dec(labels);
  }

  answered(info: RequestInfo, answer: RequestAnswer): void {
    const target = this.#target(info);
    const requests = answer.dryRun ? target.dryRuns : target.requests;
    let counter = requests.get(answer.code);
    if (counter === undefined) {
      const dryRun = answer.dryRun ? 'All' : '';
      counter = this.#requests.labels({ ...target.labels, dry_run: dryRun, code: String(answer.code) });
      requests.set(answer.code, counter);
    }
    counter.inc();
    if (answer.seconds === undefined) return;
    target.durations.observe(answer.seconds);
    target.sizes?.observe(answer.bytes);
  }

  /** The series of a target, looked up once: hashing their labels costs more than counting. */
  #target(info: RequestInfo): Target {
    const labels = targetLabels(info);
    const key = Object.values(labels).join('/');
    let target = this.#targets.get(key);
    if (target === undefined) {
      const isRead = labels.verb === 'GET' || labels.verb === 'LIST';
      target = {
        labels,
        requests: new Map<number, Counter.Internal>(),
        dryRuns: new Map<number, Counter.Internal>(),
        durations: this.#durations.labels({ ...labels }),
        sizes: isRead ? this.#sizes.labels({ ...labels }) : undefined,
      };
      this.#targets.set(key, target);
    }
    return target;
  }
}

export interface RequestAnswer {
  readonly code: number;
  readonly dryRun: boolean;
  /** Undefined for a long-running request, whose length says nothing of the server. */
  readonly seconds: number | undefined;
  readonly bytes: number;
}

interface Target {
  readonly labels: TargetLabels;
  /** By status code. */
  readonly requests: Map<number, Counter.Internal>;
  readonly dryRuns: Map<number, Counter.Internal>;
  readonly durations: Histogram.Internal<string>;
  readonly sizes: Histogram.Internal<string> | undefined;
}

/** Kubernetes' verb labels: PUT and DELETECOLLECTION, not the method and not the RBAC verb. */
const verbLabels: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};

function verbLabel(info: RequestInfo): string {
  return verbLabels[info.verb] ?? (info.method === 'GET' || info.method === 'HEAD' ? 'GET' : 'OTHER');
}

interface TargetLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
}

/** Paths that are no resource share one label set: they come from clients and would grow without bound. */
function targetLabels(info: RequestInfo): TargetLabels {
  if (!info.isResource) {
    return { verb: verbLabel(info), group: '', version: '', resource: '', subresource: '', scope: '' };
  }
  const scope = info.name !== undefined ? 'resource' : info.namespace === undefined ? 'cluster' : 'namespace';
  return {
    verb: verbLabel(info),
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: authorizedSubresource(info),
    scope,
  };
}
