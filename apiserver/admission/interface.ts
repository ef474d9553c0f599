/** Admission: what stands between a decoded write and the store. Everything here runs in this process. */
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
  ): Promise<readonly T[]>;
}

export interface AdmissionContext {
  /** The KubeVirt object's configuration over the defaults, as of this request. */
  readonly configuration: KubeVirtConfiguration;
  readonly lookups: AdmissionLookups;
  warn(text: string): void;
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
}
