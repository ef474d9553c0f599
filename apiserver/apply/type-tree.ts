/**
 * A schema as merging sees it: every value is a scalar, a map whose fields have types of their own, or a list that is one
 * value, a set, or a map by keys. Where the schema is silent (`x-kubernetes-preserve-unknown-fields`, metadata of an embedded
 * template) the type is `deduced` from the value: maps merge by key, lists are one value.
 */
import type { Definitions, Schema } from '../../openapi/schema.js';

export type FieldType =
  | { readonly kind: 'scalar' }
  | { readonly kind: 'deduced' }
  | {
      readonly kind: 'map';
      readonly atomic: boolean;
      readonly field: (name: string) => FieldType | undefined;
      /** The type of keys that are no named field. */
      readonly element: FieldType;
      /** Has no other fields than the named ones. */
      readonly closed: boolean;
    }
  | { readonly kind: 'list'; readonly relation: 'atomic' | 'set'; readonly item: FieldType }
  | {
      readonly kind: 'list';
      readonly relation: 'map';
      readonly item: FieldType;
      readonly keys: readonly string[];
      /** Values that an item's missing keys stand for. */
      readonly keyDefaults: Readonly<Record<string, unknown>>;
    };

export const deduced: FieldType = { kind: 'deduced' };
const scalar: FieldType = { kind: 'scalar' };
const objectMeta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const scalarDefinitions = /\.(Quantity|IntOrString|Time|MicroTime|Duration)$/;

/** Builds field types lazily, each definition once. */
export class TypeTree {
  private readonly types = new Map<string, FieldType>();

  constructor(private readonly definitions: Definitions) {}

  /** The type of a root object: only there metadata is ObjectMeta, embedded ones are deduced as in a custom resource. */
  root(definition: string): FieldType {
    const type = this.named(definition);
    if (type.kind !== 'map') return type;
    const metadata = this.named(objectMeta);
    return { ...type, field: (name) => (name === 'metadata' ? metadata : type.field(name)) };
  }

  private named(name: string): FieldType {
    const known = this.types.get(name);
    if (known !== undefined) return known;
    const schema = this.definitions[name];
    if (schema === undefined) throw new Error(`no definition is named ${name}`);
    const type = scalarDefinitions.test(name) ? scalar : this.inline(schema);
    this.types.set(name, type);
    return type;
  }

  private of(schema: Schema): FieldType {
    if (schema.$ref === objectMeta) return deduced;
    return schema.$ref === undefined ? this.inline(schema) : this.named(schema.$ref);
  }

  private inline(schema: Schema): FieldType {
    if (schema['x-kubernetes-int-or-string'] === true) return scalar;
    if (schema.type === 'array') return this.list(schema);
    if (schema.type === 'object') return this.map(schema);
    return schema.type === undefined ? deduced : scalar;
  }

  private map(schema: Schema): FieldType {
    const { properties, additionalProperties } = schema;
    if (properties === undefined && (additionalProperties === undefined || additionalProperties === true)) {
      return schema['x-kubernetes-map-type'] === 'atomic' ? { ...openMap, atomic: true } : deduced;
    }
    const fields = new Map<string, FieldType>();
    const element =
      typeof additionalProperties === 'object' ? lazily(() => this.of(additionalProperties)) : () => deduced;
    return {
      kind: 'map',
      atomic: schema['x-kubernetes-map-type'] === 'atomic',
      closed: additionalProperties === undefined && schema['x-kubernetes-preserve-unknown-fields'] !== true,
      field: (name) => {
        const property =
          properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (property === undefined) return undefined;
        let type = fields.get(name);
        if (type === undefined) {
          type = this.of(property);
          fields.set(name, type);
        }
        return type;
      },
      get element() {
        return element();
      },
    };
  }

  private list(schema: Schema): FieldType {
    const item = lazily(() => (schema.items === undefined ? deduced : this.of(schema.items)));
    switch (schema['x-kubernetes-list-type']) {
      case 'map':
        return {
          kind: 'list',
          relation: 'map',
          get item() {
            return item();
          },
          keys: schema['x-kubernetes-list-map-keys'] ?? [],
          keyDefaults: this.keyDefaults(schema),
        };
      case 'set':
        return { kind: 'list', relation: 'set', item: scalar };
      case 'atomic':
      case undefined:
        return { kind: 'list', relation: 'atomic', item: scalar };
    }
  }

  private keyDefaults(schema: Schema): Record<string, unknown> {
    const items = schema.items?.$ref === undefined ? schema.items : this.definitions[schema.items.$ref];
    const defaults: Record<string, unknown> = {};
    for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
      const value = items?.properties?.[key]?.default;
      if (value !== undefined) defaults[key] = value;
    }
    return defaults;
  }
}

const openMap = {
  kind: 'map',
  atomic: false,
  closed: false,
  field: () => undefined,
  element: deduced,
} as const;

const openList = { kind: 'list', relation: 'atomic', item: scalar } as const;

/** What a deduced type is once its value is known. */
export function deduce(type: FieldType, value: unknown): FieldType {
  if (type.kind !== 'deduced') return type;
  if (Array.isArray(value)) return openList;
  return typeof value === 'object' && value !== null ? openMap : scalar;
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
