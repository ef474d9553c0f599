/** Compiles definitions with Ajv: what a schema says of single values. */
import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv';
import type { Definitions, Schema } from '../schema.js';
import { isNative } from '../structural/nodes.js';

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
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { [quantityKeyword]: true },
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { [intOrStringKeyword]: true },
};

/**
 * Compiles single definitions on demand; what they share is compiled once. Core types that a KubeVirt kind embeds are checked as
 * a custom resource would: values that Kubernetes' own enumerations do not list yet must pass.
 */
export class SchemaCompiler {
  private readonly ajv: Ajv;
  private readonly added = new Set<string>();

  constructor(
    private readonly definitions: Definitions,
    private readonly native: boolean,
  ) {
    // `optimize: false`: compiling takes a third of the time, and the validators are as fast.
    this.ajv = new Ajv({ allErrors: true, verbose: true, strictTypes: false, code: { optimize: false } });
    const expression = new RegExp(quantityPattern);
    this.ajv.addKeyword({
      keyword: quantityKeyword,
      validate: (_: unknown, data: unknown) =>
        typeof data === 'number' || (typeof data === 'string' && expression.test(data)),
    });
    this.ajv.addKeyword({
      keyword: intOrStringKeyword,
      validate: (_: unknown, data: unknown) => typeof data === 'string' || Number.isInteger(data),
    });
    addFormats(this.ajv);
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
    const schema = this.definitions[name];
    if (schema === undefined) throw new Error(`there is no definition named ${name}`);
    const known = references[name];
    if (known !== undefined) {
      this.ajv.addSchema({ $id: name, ...known });
      return;
    }
    const enums = this.native || !name.startsWith('io.k8s.api.');
    // The rules of metadata say what an owner must have; they name the fault better.
    const { required, ...rest } = schema;
    const checked = name === ownerReferenceName || required === undefined ? rest : schema;
    this.ajv.addSchema({ $id: name, ...this.convert(checked, enums) });
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

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

function addFormats(ajv: Ajv): void {
  const within = (bits: number) => (value: number) => value >= -(2 ** (bits - 1)) && value < 2 ** (bits - 1);
  ajv.addFormat('int32', { type: 'number', validate: within(32) });
  ajv.addFormat('int64', { type: 'number', validate: within(64) });
  ajv.addFormat('float', { type: 'number', validate: (value) => Number.isFinite(Math.fround(value)) });
  ajv.addFormat('double', { type: 'number', validate: Number.isFinite });
  ajv.addFormat('date-time', {
    type: 'string',
    validate: (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  });
  ajv.addFormat('byte', {
    type: 'string',
    validate: (text: string) => {
      const digits = text.replace(/[\r\n]/g, '');
      return digits.length % 4 === 0 && base64.test(digits);
    },
  });
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
