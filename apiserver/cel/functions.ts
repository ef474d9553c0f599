/** The functions of CEL that take no expression: its own, and those that Kubernetes adds. */
import { addresses } from './library/addresses.js';
import { formats } from './library/format.js';
import type { CelFunction } from './library/function.js';
import { jsonPatches } from './library/json-patch.js';
import { lists } from './library/lists.js';
import { optionals } from './library/optional.js';
import { quantities } from './library/quantity.js';
import { regularExpressions } from './library/regular-expressions.js';
import { semanticVersions } from './library/semantic-version.js';
import { sets } from './library/sets.js';
import { standard } from './library/standard.js';
import { strings } from './library/strings.js';
import { times } from './library/time.js';
import { urls } from './library/url.js';
import { weight } from './limits.js';
import { EvaluationError, Opaque, type Value } from './values.js';

/** Methods of values that only libraries make. */
const methods = [
  ...['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear'],
  ...['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'],
  ...['hasValue', 'value', 'or', 'orValue'],
  ...[
    'add',
    'sub',
    'sign',
    'isInteger',
    'asInteger',
    'asApproximateFloat',
    'compareTo',
    'isGreaterThan',
    'isLessThan',
  ],
  ...['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath', 'getQuery'],
  ...[
    'family',
    'isUnspecified',
    'isLoopback',
    'isLinkLocalMulticast',
    'isLinkLocalUnicast',
    'isGlobalUnicast',
  ],
  ...['containsIP', 'containsCIDR', 'ip', 'masked', 'prefixLength'],
  ...['major', 'minor', 'patch', 'validate'],
  ...[
    'path',
    'group',
    'serviceAccount',
    'resource',
    'subresource',
    'namespace',
    'name',
    'check',
    'fieldSelector',
  ],
  ...['labelSelector', 'allowed', 'reason', 'errored', 'error'],
];

const libraries: readonly Readonly<Record<string, CelFunction>>[] = [
  standard,
  strings,
  lists,
  sets,
  regularExpressions,
  times,
  optionals,
  quantities,
  urls,
  addresses,
  semanticVersions,
  formats,
  jsonPatches,
];

/** The same name may have functions for several types. */
const functions = new Map<string, readonly CelFunction[]>();
for (const library of libraries)
  for (const [name, call] of Object.entries(library))
    functions.set(name, [...(functions.get(name) ?? []), call]);

/** Those that look at one value for each part of another. */
const productNames = new Set(['matches', 'find', 'findAll', 'distinct', ...Object.keys(sets)]);

/** A function of a namespace is one name: `sets.contains`. */
export function isFunction(name: string): boolean {
  return functions.has(name) || methods.includes(name);
}

/** Steps that the call takes beside its own. */
export function costOf(name: string, values: readonly Value[]): number {
  // As many as the number says.
  const [count] = values;
  if (name === 'lists.range' && typeof count === 'bigint') return Math.max(0, Number(count));
  const weights = values.map(weight);
  if (productNames.has(name)) return weights.reduce((product, each) => product * Math.max(each, 1), 1);
  return weights.reduce((sum, each) => sum + each, 0);
}

/** A receiver is the first of the values. */
export function callFunction(name: string, values: readonly Value[]): Value {
  const [receiver, ...rest] = values;
  if (receiver instanceof Opaque) {
    const result = receiver.call?.(name, rest);
    if (result !== undefined) return result;
  }
  for (const call of functions.get(name) ?? []) {
    const result = call(...values);
    if (result !== undefined) return result;
  }
  throw new EvaluationError('no such overload');
}
