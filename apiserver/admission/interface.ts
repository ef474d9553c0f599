/**
 * Admission: what stands between a decoded write and the store. First runs what this server knows itself, in this process; then,
 * in a cluster, what others have set up there: webhooks and quota.
 */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { UserInfo } from '../request.js';

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
  /** The object as it would be stored. `mutate` may change it in place; DELETE has none. */
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
}

/** Reads that admission may do: from this server's own cache, in a cluster from kube-apiserver for kinds that live there. */
export interface AdmissionLookups {
  get<T extends KubernetesObject>(
    group: string,
    resource: string,
    namespace: string | undefined,
    name: string,
  ): Promise<T | undefined>;
  list<T extends KubernetesObject>(
    group: string,
    resource: string,
    namespace: string | undefined,
    freshness?: Freshness,
  ): Promise<readonly T[]>;
}

/** `cached`: what this server has, which may lack what another has just written, for settings that rule out no write. Else `newest`. */
export type Freshness = 'newest' | 'cached';

export interface AdmissionContext {
  /** The KubeVirt object's configuration over the defaults, as of this request. */
  readonly configuration: KubeVirtConfiguration;
  readonly lookups: AdmissionLookups;
  warn(text: string): void;
  /** For the audit log: a qualified name and its value. */
  annotate?(key: string, value: string): void;
  /** Aborts when the answer is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the request's object what a patch by somebody else has made of it, as far as a client could have: identity and what
 * this write may not change stay. Throws an ApiError if the result is no object of the kind.
 */
export type AcceptPatched = (patched: object) => void;

/** What a plugin's late mutation came to. */
export interface LateMutation {
  /** Whether it patched the object: then all defaults are completed once more. */
  readonly changed: boolean;
  /** Runs behind that, whichever plugin patched the object. */
  again(): Promise<void>;
}

/** One concern of admission for the kinds it names. */
export interface AdmissionPlugin {
  readonly name: string;
  handles(request: AdmissionRequest): boolean;
  /** Defaults. Idempotent. May throw an ApiError for a refusal that is not a list of causes. */
  mutate?(request: AdmissionRequest, context: AdmissionContext): Promise<void> | void;
  /** Every fault of the object, one cause each; empty to allow. */
  validate?(
    request: AdmissionRequest,
    context: AdmissionContext,
  ): Promise<readonly StatusCause[]> | readonly StatusCause[];
  /** Runs once the defaults of all plugins are in, and for deletes. */
  mutateLate?(
    request: AdmissionRequest,
    context: AdmissionContext,
    accept: AcceptPatched,
  ): Promise<LateMutation>;
  /** Runs once no plugin finds a fault, after those before it have allowed the object. Throws an ApiError to refuse it. */
  validateLate?(request: AdmissionRequest, context: AdmissionContext): Promise<void>;
}
