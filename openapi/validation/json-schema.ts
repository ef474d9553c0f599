/** Compiles definitions with Ajv: what a schema says of single values. */
import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv';
import { definition } from '../definitions.js';
import { isQuantity as parses } from '../quantity.js';
import type { Definitions, Schema } from '../schema.js';
import { intOrStringName, isNative, quantityName } from '../structural/nodes.js';
import { formats } from './formats.js';

/** The pattern that the API publishes for quantities; recorded answers quote it. */
export const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** Ours, beside JSON Schema's: a quantity, and an integer or string. */
export const quantityKeyword = 'x-quantity';
export const intOrStringKeyword = 'x-int-or-string';

export interface SchemaValidator {
  /** Every fault, with the data that it is about. */
  (value: unknown): readonly ErrorObject[];
}

const ownerReferenceName = 'io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference';

const keptKeywords = [
  'type',
  'required',
  'enum',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'format',
] as const;

const references: Readonly<Record<string, AnySchemaObject>> = {
  [quantityName]: { [quantityKeyword]: true },
  [intOrStringName]: { [intOrStringKeyword]: true },
};

const quantityExpression = new RegExp(quantityPattern);

/** The published pattern takes some texts that nobody can calculate with, such as 1e1.5. */
export function isQuantity(value: unknown): boolean {
  return (
    (typeof value === 'number' || (typeof value === 'string' && quantityExpression.test(value))) &&
    parses(value)
  );
}

export function isIntOrString(value: unknown): boolean {
  return typeof value === 'string' || Number.isInteger(value);
}

/**
 * What of a definition is checked. Core types that a KubeVirt kind embeds are checked as a custom resource would: values that
 * Kubernetes' own enumerations do not list yet must pass (`enums`: whether they are looked at).
 */
export function constraintsOf(
  definitions: Definitions,
  name: string,
  native: boolean,
): { readonly schema: Schema; readonly enums: boolean } {
  const schema = definition(definitions, name);
  const enums = native || !name.startsWith('io.k8s.api.');
  if (name !== ownerReferenceName) return { schema, enums };
  // The rules of metadata say what an owner must have; they name the fault better.
  return { schema: { ...schema, required: [] }, enums };
}

/** Compiles single definitions on demand; what they share is compiled once. */
export class SchemaCompiler {
  private readonly ajv: Ajv;
  private readonly added = new Set<string>();

  constructor(
    private readonly definitions: Definitions,
    private readonly native: boolean,
  ) {
    // `optimize: false`: compiling takes a third of the time, and the validators are as fast.
    this.ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, code: { optimize: false } });
    this.ajv.addKeyword({
      keyword: quantityKeyword,
      validate: (_: unknown, data: unknown) => isQuantity(data),
    });
    this.ajv.addKeyword({
      keyword: intOrStringKeyword,
      validate: (_: unknown, data: unknown) => isIntOrString(data),
    });
    for (const [name, format] of Object.entries(formats)) this.ajv.addFormat(name, format);
  }

  compile(name: string): SchemaValidator {
    this.add(name);
    const validate = this.ajv.compile({ $ref: name });
    return (value) => {
      if (validate(value)) return [];
      return validate.errors ?? [];
    };
  }

  private add(name: string): void {
    if (this.added.has(name)) return;
    this.added.add(name);
    const known = references[name];
    if (known !== undefined) {
      this.ajv.addSchema({ $id: name, ...known });
      return;
    }
    const { schema, enums } = constraintsOf(this.definitions, name, this.native);
    this.ajv.addSchema({ $id: name, ...this.convert(schema, enums) });
  }

  private convert(schema: Schema, enums: boolean): AnySchemaObject {
    if (schema.$ref !== undefined) {
      const reference = this.reference(schema.$ref);
      return schema.nullable === true ? { if: { type: 'null' }, else: reference } : reference;
    }
    if (schema['x-kubernetes-int-or-string'] === true) return { [intOrStringKeyword]: true };
    const converted: AnySchemaObject = {};
    for (const keyword of keptKeywords)
      if (schema[keyword] !== undefined && (enums || keyword !== 'enum'))
        converted[keyword] = schema[keyword];
    if (schema.nullable === true) converted['nullable'] = true;
    if (schema.items !== undefined) converted['items'] = this.convert(schema.items, enums);
    if (typeof schema.additionalProperties === 'object')
      converted['additionalProperties'] = this.convert(schema.additionalProperties, enums);
    if (schema.properties !== undefined)
      converted['properties'] = Object.fromEntries(
        Object.entries(schema.properties).map(([key, member]) => [key, this.convert(member, enums)]),
      );
    return converted;
  }

  private reference(name: string): AnySchemaObject {
    const known = references[name];
    if (known !== undefined) return known;
    this.add(name);
    return { $ref: name };
  }
}

const compilers = new WeakMap<Definitions, Map<boolean, SchemaCompiler>>();

/** The shared compiler for a kind of these definitions. */
export function schemaCompiler(definitions: Definitions, name: string): SchemaCompiler {
  const native = isNative(name);
  const known = compilers.get(definitions) ?? new Map<boolean, SchemaCompiler>();
  compilers.set(definitions, known);
  const compiler = known.get(native) ?? new SchemaCompiler(definitions, native);
  known.set(native, compiler);
  return compiler;
}
