/**
 * What a kind is to the server. One file per kind in `apiserver/resources/` fills in a `Resource`; the generic registry,
 * discovery, OpenAPI and Table rendering derive everything else from it.
 */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { NameRule } from '../../openapi/names.js';
import type { UserInfo } from '../request.js';

export interface Column {
  readonly name: string;
  /** The server renders a `date` as an age. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority: number;
  /** What the cell shows; `undefined` shows as null. Dates are RFC 3339. */
  readonly value: (object: KubernetesObject) => unknown;
}

export interface ServedVersion {
  readonly name: string;
  /** Full name of the definition in `openapi/definitions`. */
  readonly definition: string;
  /** Answers carry this Warning. */
  readonly deprecationWarning?: string;
}

/** Where `scale` finds its numbers: paths without the leading dot, `spec.replicas`. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector: string;
}

/** A subresource that writes a part of the object through the ordinary write path: `pods/binding`, `namespaces/finalize`. */
export interface WriteSubresource {
  /** `create` (POST, answers with a Status) or `update` (PUT, the body is the object's own kind and the object is the answer). */
  readonly verb: 'create' | 'update';
  readonly kind: string;
  /** Changes `object`, the state as it is, as the body says. Throws an ApiError if it can not be done. */
  apply(object: KubernetesObject, body: KubernetesObject, context: StrategyContext): void;
}

export interface Resource {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** In order of preference. All versions share one schema; the stored bytes name none of them. */
  readonly versions: readonly ServedVersion[];
  /** The version that managedFields and OpenAPI treat as the hub. */
  readonly storageVersion: string;
  readonly status: boolean;
  readonly scale?: ScalePaths;
  /** Others besides `status` and `scale` that the generic registry serves. */
  readonly subresources?: Readonly<Record<string, WriteSubresource>>;
  /** Verbs of the main resource; all eight if absent. */
  readonly verbs?: readonly string[];
  readonly columns: readonly Column[];
  /** Selectable fields besides metadata.name and metadata.namespace, and how to read them. */
  readonly selectableFields: Readonly<Record<string, (object: KubernetesObject) => string>>;
  readonly strategy: Strategy;
}

export interface StrategyContext {
  readonly user: UserInfo;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
  /** RFC 3339, the time of the request. */
  readonly now: string;
}

/** All policy of a kind that is not admission. Absent methods do what a custom resource does. */
export interface Strategy {
  /** Clears what a client may not set; called before admission. */
  prepareForCreate?(object: KubernetesObject, context: StrategyContext): void;
  /** Restores what this write may not change. The generic registry has already kept status and spec apart. */
  prepareForUpdate?(object: KubernetesObject, old: KubernetesObject, context: StrategyContext): void;
  /** Called when a delete begins that something holds up: what the object then shows besides its deletionTimestamp. */
  prepareForDelete?(object: KubernetesObject): void;
  /** Whether something besides metadata.finalizers holds up the deletion (a namespace's spec.finalizers). */
  holdsDeletion?(object: KubernetesObject): boolean;
  /** Rules of the kind beyond its schema. Throws an ApiError for a refusal that is no fault of a field. */
  validate?(object: KubernetesObject, old: KubernetesObject | undefined): readonly StatusCause[];
  /** Throws an ApiError if the object may not be deleted at all. */
  validateDelete?(object: KubernetesObject): void;
  /** How long the store keeps it (events). */
  ttlSeconds?(object: KubernetesObject): number | undefined;
  /** Names are DNS subdomains unless this says otherwise (RBAC: path segments). */
  readonly nameRule?: NameRule;
  /** Whether finalizers must be standard ones or carry a domain, as for the core kinds. */
  readonly coreFinalizers?: boolean;
  /** Whether metadata.generation counts changes of the spec. True unless said otherwise. */
  readonly generation?: boolean;
  /** Whether an update may leave out the resourceVersion, and then overwrites whatever is there. */
  readonly unconditionalUpdate?: boolean;
  /** What `propagationPolicy` unset means. Background unless said otherwise. */
  readonly defaultPropagation?: 'Background' | 'Orphan' | 'Foreground';
  /** Whether a delete answers with the object even if nothing held it up; the published documents say which it is. */
  readonly returnsDeletedObject?: boolean;
  /** Seconds a delete waits for the object's owner to finish (pods); absent: deleted at once. */
  deletionGraceSeconds?(object: KubernetesObject, requested: number | undefined): number;
}
