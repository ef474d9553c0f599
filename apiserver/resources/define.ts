/** Fills in what most kinds share, so that a kind's file says only what is its own. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Column, Resource, ServedVersion, Strategy } from '../registry/resource.js';

type Optional =
  | 'listKind'
  | 'singular'
  | 'shortNames'
  | 'categories'
  | 'namespaced'
  | 'storageVersion'
  | 'status'
  | 'columns'
  | 'selectableFields'
  | 'strategy';

export type ResourceSpec = Omit<Resource, Optional> & Partial<Pick<Resource, Optional>>;

/** The column that a kind without columns of its own shows, and most others too. */
export const age: Column = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  priority: 0,
  value: (object) => object.metadata.creationTimestamp,
};

export function defineResource(spec: ResourceSpec): Resource {
  return {
    listKind: `${spec.kind}List`,
    singular: spec.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    storageVersion: spec.versions[0]?.name ?? '',
    status: false,
    columns: [age],
    selectableFields: {},
    strategy: {},
    ...spec,
  };
}

/** A kind of Kubernetes itself, as standalone serves it. */
export function defineCoreResource(spec: ResourceSpec): Resource {
  const strategy: Strategy = { coreFinalizers: true, generation: false, unconditionalUpdate: true };
  return defineResource({ ...spec, strategy: { ...strategy, ...spec.strategy } });
}

/** Versions that share one definition, in order of preference. */
export function versions(definition: string, ...names: readonly string[]): readonly ServedVersion[] {
  return names.map((name) => ({ name, definition }));
}

/** The version that KubeVirt's kinds had before v1. */
export function deprecatedV1alpha3(definition: string): ServedVersion {
  return {
    name: 'v1alpha3',
    definition,
    deprecationWarning: 'kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release.',
  };
}

interface ColumnOptions {
  readonly type?: Column['type'];
  readonly wide?: boolean;
  readonly description: string;
}

/** A column over the fields of a kind, whose type `value` names. */
export function column(
  name: string,
  options: ColumnOptions,
  value: (object: never) => string | number | boolean | null | undefined,
): Column {
  return {
    name,
    type: options.type ?? 'string',
    description: options.description,
    priority: options.wide === true ? 1 : 0,
    // A column is only ever shown objects of the kind that it was defined for.
    value: (object) => value(object as never),
  };
}

/** A selectable field of a kind, whose type `value` names; empty when the object lacks it. */
export function field(
  value: (object: never) => string | number | boolean | undefined,
): (object: KubernetesObject) => string {
  // As for columns: the kind's own objects only.
  return (object) => String(value(object as never) ?? '');
}

interface HasConditions {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** The status of the condition of that type: `True`, `False` or `Unknown`; undefined if there is none. */
export function conditionStatus(status: HasConditions | undefined, type: string): string | undefined {
  return status?.conditions?.find((condition) => condition.type === type)?.status;
}
