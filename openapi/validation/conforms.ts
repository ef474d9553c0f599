/**
 * Whether a value is what its schema says, without saying why not. It visits what the value has, not all that the schema
 * allows, and needs no compiling of code: nearly every object is good, and never gets to the validator that words the faults.
 */
import type { Definitions, Schema } from '../schema.js';
import { intOrStringName, isNative, quantityName } from '../structural/nodes.js';
import { formats } from './formats.js';
import { constraintsOf, isIntOrString, isQuantity } from './json-schema.js';

export type Conforms = (value: unknown) => boolean;

/** Compiles single definitions on demand, each once. `native` as for `SchemaCompiler`. */
class ConformanceCompiler {
  private readonly named = new Map<string, Conforms>();

  constructor(
    private readonly definitions: Definitions,
    private readonly native: boolean,
  ) {}

  compile(name: string): Conforms {
    const known = this.named.get(name);
    if (known !== undefined) return known;
    // Cycles: the entry must exist before what refers back to it is compiled.
    let conforms: Conforms = () => false;
    this.named.set(name, (value) => conforms(value));
    conforms = this.definition(name);
    this.named.set(name, conforms);
    return conforms;
  }

  private definition(name: string): Conforms {
    if (name === quantityName) return isQuantity;
    if (name === intOrStringName) return isIntOrString;
    const { schema, enums } = constraintsOf(this.definitions, name, this.native);
    return this.of(schema, enums);
  }

  private of(schema: Schema, enums: boolean): Conforms {
    if (schema.$ref !== undefined) return orNull(this.compile(schema.$ref), schema.nullable);
    if (schema['x-kubernetes-int-or-string'] === true) return isIntOrString;
    const conforms = this.typed(schema, enums);
    if (!enums || schema.enum === undefined) return orNull(conforms, schema.nullable);
    const allowed = new Set<unknown>(schema.enum);
    return (value) => allowed.has(value) && conforms(value);
  }

  private typed(schema: Schema, enums: boolean): Conforms {
    switch (schema.type) {
      case 'object':
        return this.object(schema, enums);
      case 'array':
        return this.list(schema, enums);
      case 'string':
        return stringOf(schema);
      case 'integer':
      case 'number':
        return numberOf(schema);
      case 'boolean':
        return (value) => typeof value === 'boolean';
      case undefined:
        return () => true;
    }
  }

  private object({ properties = {}, required = [], additionalProperties }: Schema, enums: boolean): Conforms {
    const members = new Map(Object.entries(properties).map(([key, member]) => [key, this.of(member, enums)]));
    const others =
      typeof additionalProperties === 'object' ? this.of(additionalProperties, enums) : undefined;
    return (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const object = value as Readonly<Record<string, unknown>>;
      for (const key in object) {
        const member = object[key];
        const conforms = members.get(key) ?? others;
        if (member !== undefined && conforms !== undefined && !conforms(member)) return false;
      }
      return required.every((key) => Object.hasOwn(object, key) && object[key] !== undefined);
    };
  }

  private list({ items, minItems = 0, maxItems = Infinity }: Schema, enums: boolean): Conforms {
    const conforms = items === undefined ? () => true : this.of(items, enums);
    return (value) =>
      Array.isArray(value) && value.length >= minItems && value.length <= maxItems && value.every(conforms);
  }
}

function orNull(conforms: Conforms, nullable: boolean | undefined): Conforms {
  return nullable === true ? (value) => value === null || conforms(value) : conforms;
}

function stringOf({ pattern, minLength, maxLength, format }: Schema): Conforms {
  const checks: ((text: string) => boolean)[] = [];
  if (pattern !== undefined) {
    const expression = new RegExp(pattern, 'u');
    checks.push((text) => expression.test(text));
  }
  if (minLength !== undefined || maxLength !== undefined) {
    checks.push((text) => {
      // JSON Schema counts characters, not code units.
      const { length } = Array.from(text);
      return length >= (minLength ?? 0) && length <= (maxLength ?? Infinity);
    });
  }
  const known = format === undefined ? undefined : formats[format];
  if (known?.type === 'string') checks.push(known.validate);
  if (checks.length === 0) return (value) => typeof value === 'string';
  return (value) => typeof value === 'string' && checks.every((check) => check(value));
}

function numberOf({ type, minimum = -Infinity, maximum = Infinity, format }: Schema): Conforms {
  const known = format === undefined ? undefined : formats[format];
  const fits = known?.type === 'number' ? known.validate : () => true;
  const isOfType = type === 'integer' ? Number.isInteger : Number.isFinite;
  return (value) =>
    typeof value === 'number' && isOfType(value) && value >= minimum && value <= maximum && fits(value);
}

const compilers = new WeakMap<Definitions, Map<boolean, ConformanceCompiler>>();

/** Whether values are what the definition of that name says; what definitions share is compiled once. */
export function compileConforms(definitions: Definitions, name: string): Conforms {
  const native = isNative(name);
  const known = compilers.get(definitions) ?? new Map<boolean, ConformanceCompiler>();
  compilers.set(definitions, known);
  const compiler = known.get(native) ?? new ConformanceCompiler(definitions, native);
  known.set(native, compiler);
  return compiler.compile(name);
}
