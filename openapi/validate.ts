/** Whether an object is what its schema says, answered as kube-apiserver answers for custom resources. */
import type { StatusCause } from './meta.js';
import type { Definitions } from './schema.js';
import { compileNode, type StructuralNode } from './structural/nodes.js';
import { invalid, unplaced, type FieldError } from './validation/field-error.js';
import { compileConforms, type Conforms } from './validation/conforms.js';
import { schemaCompiler, type SchemaValidator } from './validation/json-schema.js';
import { visitList } from './validation/lists.js';
import { ratchet } from './validation/ratchet.js';
import { ruleOf } from './validation/rules.js';
import { schemaErrors } from './validation/schema-errors.js';
import { compileWalk, type Visit } from './validation/walk.js';

/**
 * Every fault of `object`, at most `maximumCauses`; empty if it is good. Prune and default it first. With `oldObject`, an update:
 * rules that compare with the old state apply, and faults of what the update leaves as it was are forgiven.
 */
export type Validator = (object: unknown, oldObject?: unknown) => StatusCause[];

export const maximumCauses = 100;

/** Reasons after which the rules are not tried, because they could not be evaluated. */
const blockingReasons = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Cheap: the expensive part runs when the first fault is found. Throws if a definition is missing or has a rule that is not implemented. */
export function compileValidator(definitions: Definitions, name: string): Validator {
  const root = compileNode(definitions, name);
  const lists = compileWalk(root, visitList);
  const rules = compileWalk(root, visitRules);
  let conforms: Conforms | undefined;
  let schema: SchemaValidator | undefined;
  const faultsOf = (object: unknown): readonly FieldError[] => {
    conforms ??= compileConforms(definitions, name);
    if (conforms(object)) return [];
    // Compiling takes some tenths of a second for a large kind, and only what words the faults needs it.
    schema ??= schemaCompiler(definitions, name).compile(name);
    return schemaErrors(object, schema(object).slice(0, maximumCauses));
  };
  return (object, oldObject) => {
    let errors: readonly FieldError[] = [...faultsOf(object), ...collect(lists, object, oldObject)];
    if (oldObject !== undefined && errors.length > 0) errors = ratchet(root, errors, object, oldObject);
    return [...errors, ...ruleErrors(rules, errors, object, oldObject)]
      .slice(0, maximumCauses)
      .map((error) => error.cause);
  };
}

function ruleErrors(
  rules: Visit | undefined,
  errors: readonly FieldError[],
  object: unknown,
  oldObject: unknown,
): readonly FieldError[] {
  if (rules === undefined) return [];
  if (errors.some(({ cause }) => blockingReasons.has(cause.reason ?? '')))
    return [
      unplaced(
        [],
        'the remaining validation rules were not checked because the object was invalid; correct the other errors first',
        null,
      ),
    ];
  return collect(rules, object, oldObject);
}

function collect(visit: Visit | undefined, object: unknown, oldObject: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit?.(object, oldObject, [], (error) => errors.push(error));
  return errors;
}

function visitRules(node: StructuralNode): Visit | undefined {
  if ((node.kind !== 'object' && node.kind !== 'scalar') || node.rules === undefined) return undefined;
  const compiled = node.rules.map(({ rule, message }) => ({
    rule: ruleOf(rule),
    message: message ?? `failed rule: ${rule}`,
  }));
  return (value, old, path, report) => {
    for (const { rule, message } of compiled) {
      if (rule.transition && old === undefined) continue;
      if (rule.holds(value, old)) continue;
      report(invalid(path, message, typeof value === 'object' ? undefined : value));
    }
  };
}
