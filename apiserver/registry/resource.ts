/**
 * What a kind is to the server. One file per kind in `apiserver/resources/` fills in a `Resource`; the generic registry,
 * discovery, OpenAPI and Table rendering derive everything else from it.
 */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { UserInfo } from '../request.js';

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0: always shown; 1: with `-o wide`. */
  readonly priority: number;
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
}

/** All policy of a kind that is not admission. Absent methods do what a custom resource does. */
export interface Strategy {
  /** Clears what a client may not set; called before admission. */
  prepareForCreate?(object: KubernetesObject, context: StrategyContext): void;
  /** Restores what this write may not change. The generic registry has already kept status and spec apart. */
  prepareForUpdate?(object: KubernetesObject, old: KubernetesObject, context: StrategyContext): void;
  /** Rules of the kind beyond its schema. */
  validate?(object: KubernetesObject, old: KubernetesObject | undefined): readonly StatusCause[];
  /** How long the store keeps it (events). */
  ttlSeconds?(object: KubernetesObject): number | undefined;
  /** Names are DNS subdomains unless this says otherwise (RBAC: path segments). */
  readonly nameRule?: 'dns-subdomain' | 'dns-label' | 'path-segment';
  /** Whether metadata.generation counts changes of the spec. True unless said otherwise. */
  readonly generation?: boolean;
  /** What `propagationPolicy` unset means. Background unless said otherwise. */
  readonly defaultPropagation?: 'Background' | 'Orphan' | 'Foreground';
  /** Seconds a delete waits for the object's owner to finish (pods); absent: deleted at once. */
  deletionGraceSeconds?(object: KubernetesObject, requested: number | undefined): number;
}
