/**
 * The schema language of `openapi/definitions`: the structural subset of OpenAPI v3 that Kubernetes uses, with its
 * `x-kubernetes-*` extensions. `$ref` holds the full name of another definition (`io.kubevirt.v1.Disk`), not a URL.
 */
export interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly format?: string;
  readonly nullable?: boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly (string | number | boolean)[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  /** How strategic merge patch treats the member; without it, objects are merged and lists replaced. */
  readonly 'x-kubernetes-patch-strategy'?: 'merge' | 'replace' | 'merge,retainKeys';
  /** The member of the items by which strategic merge patch tells them apart; a merged list without it holds scalars. */
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
}

/** Every named schema of the API, by its full name. */
export type Definitions = Readonly<Record<string, Schema>>;
