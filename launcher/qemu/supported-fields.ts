import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import type { FieldRule } from './field-rule.js';
import { fieldRules } from './field-rules.js';

const unknownField = 'this version of the launcher does not know it';

interface Match {
  readonly rules: ReadonlyMap<string, FieldRule>;
  /** Paths above some rule: an empty object there asks for nothing. */
  readonly prefixes: ReadonlySet<string>;
}

let compiled: Match | undefined;

function compile(): Match {
  const rules = new Map<string, FieldRule>();
  const prefixes = new Set<string>();
  for (const rule of fieldRules) {
    rules.set(rule.path, rule);
    const words = rule.path.replaceAll('[]', '.[]').split('.');
    for (let length = 1; length < words.length; length++) {
      prefixes.add(words.slice(0, length).join('.').replaceAll('.[]', '[]'));
    }
  }
  return { rules, prefixes };
}

/**
 * Refuses a VMI with a field that the launcher would ignore.
 * @throws LauncherError `UnsupportedField`, for the first such field.
 */
export function refuseUnsupported({ spec }: VirtualMachineInstance): void {
  compiled ??= compile();
  for (const [name, value] of Object.entries(spec)) check(compiled, value, name, `spec.${name}`);
}

function check(match: Match, value: unknown, pattern: string, path: string): void {
  if (value === undefined || value === null) return;
  const whole = match.rules.get(`${pattern}.**`);
  const rule = whole ?? match.rules.get(pattern);
  if (rule?.refuse) {
    const why = rule.refuse(value);
    if (why !== undefined) throw failure('UnsupportedField', path, why);
    return;
  }
  if (whole) return;
  if (Array.isArray(value)) {
    const elements: readonly unknown[] = value;
    elements.forEach((element, index) => check(match, element, `${pattern}[]`, `${path}[${index}]`));
    return;
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    for (const [key, below] of entries) check(match, below, `${pattern}.${key}`, `${path}.${key}`);
    if (entries.length > 0 || rule || match.prefixes.has(pattern)) return;
  } else if (rule) return;
  throw failure('UnsupportedField', path, unknownField);
}
