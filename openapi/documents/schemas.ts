/** The definitions that a document needs, written as it wants them. */
import { definition } from '../definitions.js';
import type { Definitions, Schema } from '../schema.js';
import { listDefinition, patchDefinition, type Operation } from './operations.js';
import { groupVersionPath, type GroupVersionKind, type PublishedResource } from './published-resource.js';

export type Json = Record<string, unknown>;

/** Where the two versions of OpenAPI differ in schemas. */
export interface SchemaStyle {
  readonly referencePrefix: '#/components/schemas/' | '#/definitions/';
  /** A reference beside other keywords: v3 ignores the others unless the reference is inside `allOf`. */
  readonly wrapsReferences: boolean;
  readonly nullable: boolean;
}

export const v3Style: SchemaStyle = {
  referencePrefix: '#/components/schemas/',
  wrapsReferences: true,
  nullable: true,
};
export const v2Style: SchemaStyle = {
  referencePrefix: '#/definitions/',
  wrapsReferences: false,
  nullable: false,
};

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Published as strings, as Kubernetes does: generated clients then keep what a user wrote. */
const replaced: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: 'string' },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: 'string', format: 'int-or-string' },
};

const patchSchema: Schema = {
  type: 'object',
  description: 'A change to an object, in the form that the media type says.',
};

interface Converted {
  readonly schema: Json;
  /** Full names of the definitions that it refers to. */
  readonly references: readonly string[];
}

/** Writes the schemas of all documents of one style. What several documents share is converted once. */
export class SchemaWriter {
  private readonly converted = new Map<string, Converted>();

  constructor(
    private readonly definitions: Definitions,
    private readonly style: SchemaStyle,
  ) {}

  /** Every schema that `operations` need, by full name and in the order of names. */
  schemasFor(resources: readonly PublishedResource[], operations: readonly Operation[]): Json {
    const kinds = kindsOf(resources);
    const lists = new Map(
      resources.flatMap(({ definition: item, kind }) =>
        item === undefined ? [] : [[listDefinition(item), listSchema(item, kind)] as const],
      ),
    );
    const names = new Set([...rootsOf(operations), ...eventRoots]);
    const schemas: [string, Json][] = [];
    // A Set grows while it is walked: this follows every reference once.
    for (const name of names) {
      const { schema, references } = this.convert(name, lists);
      for (const reference of references) names.add(reference);
      const known = kinds.get(name);
      schemas.push([
        name,
        known === undefined ? schema : { ...schema, 'x-kubernetes-group-version-kind': known },
      ]);
    }
    return Object.fromEntries(schemas.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private convert(name: string, lists: ReadonlyMap<string, Schema>): Converted {
    let converted = this.converted.get(name);
    if (converted === undefined) {
      const schema =
        name === patchDefinition ? patchSchema : (lists.get(name) ?? replacedSchema(this.definitions, name));
      converted = { schema: convert(schema, this.style), references: referencesOf(schema) };
      this.converted.set(name, converted);
    }
    return converted;
  }
}

/** What a watch sends, though no operation answers with it. */
const eventRoots = [`${meta}.WatchEvent`];

export function reference(name: string, style: SchemaStyle): Json {
  return { $ref: `${style.referencePrefix}${name}` };
}

function listSchema(item: string, kind: string): Schema {
  return {
    description: `A list of objects of kind ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the list and its items.' },
      items: {
        type: 'array',
        items: { $ref: item },
        description: 'The objects, in the order of their names.',
      },
      kind: { type: 'string', description: `Always ${kind}List.` },
      metadata: {
        $ref: `${meta}.ListMeta`,
        description: 'Version of the list, and the token of the next page.',
      },
    },
  };
}

function rootsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(({ body, responses }) => [
    ...(body === undefined ? [] : [body.definition]),
    ...responses.flatMap((response) => response.definition ?? []),
  ]);
}

/** Which kinds a schema is, so that kubectl finds the schema of a kind. */
function kindsOf(resources: readonly PublishedResource[]): Map<string, GroupVersionKind[]> {
  const kinds = new Map<string, Map<string, GroupVersionKind>>();
  const add = (name: string, group: string, version: string, kind: string): void => {
    const known = kinds.get(name) ?? new Map<string, GroupVersionKind>();
    known.set(`${groupVersionPath(group, version)}/${kind}`, { group, version, kind });
    kinds.set(name, known);
  };
  for (const { group, version, kind, definition: name, verbs, scale } of resources) {
    add(`${meta}.DeleteOptions`, group, version, 'DeleteOptions');
    add(`${meta}.WatchEvent`, group, version, 'WatchEvent');
    if (scale) add('io.k8s.api.autoscaling.v1.Scale', 'autoscaling', 'v1', 'Scale');
    if (name === undefined) continue;
    add(name, group, version, kind);
    if (verbs.includes('list')) add(listDefinition(name), group, version, `${kind}List`);
  }
  for (const kind of ['Status', 'APIResourceList', 'APIGroup', 'APIGroupList'])
    add(`${meta}.${kind}`, '', 'v1', kind);
  return new Map([...kinds].map(([name, known]) => [name, [...known.values()]]));
}

function replacedSchema(definitions: Definitions, name: string): Schema {
  const schema = definition(definitions, name);
  const replacement = replaced[name];
  if (replacement === undefined) return schema;
  return schema.description === undefined ? replacement : { description: schema.description, ...replacement };
}

function referencesOf(schema: Schema): string[] {
  return [
    ...(schema.$ref === undefined ? [] : [schema.$ref]),
    ...Object.values(schema.properties ?? {}).flatMap(referencesOf),
    ...(schema.items === undefined ? [] : referencesOf(schema.items)),
    ...(typeof schema.additionalProperties === 'object' ? referencesOf(schema.additionalProperties) : []),
  ];
}

function convert(schema: Schema, style: SchemaStyle): Json {
  const { $ref, nullable, properties, items, additionalProperties, ...rest } = schema;
  if ($ref !== undefined) {
    const target = reference($ref, style);
    if (Object.keys(rest).length === 0) return target;
    return style.wrapsReferences ? { ...rest, allOf: [target] } : { ...rest, ...target };
  }
  return {
    ...rest,
    ...(nullable === true && style.nullable ? { nullable } : {}),
    ...(properties === undefined
      ? {}
      : { properties: mapValues(properties, (member) => convert(member, style)) }),
    ...(items === undefined ? {} : { items: convert(items, style) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === 'object'
              ? convert(additionalProperties, style)
              : additionalProperties,
        }),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
