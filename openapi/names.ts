/**
 * What Kubernetes accepts as names, keys and values. Each function returns what is wrong, one sentence a fault, fit to follow
 * `Invalid value: "x": `; an empty list means that the text is good.
 */

export type Faults = readonly string[];

const none: Faults = [];
const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`;
const label1035Pattern = '[a-z]([-a-z0-9]*[a-z0-9])?';
const keyNamePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValuePattern = `(${keyNamePattern})?`;

const labelExpression = new RegExp(`^${labelPattern}$`);
const label1035Expression = new RegExp(`^${label1035Pattern}$`);
const keyNameExpression = new RegExp(`^${keyNamePattern}$`);

export const maximumSubdomainLength = 253;
export const maximumLabelLength = 63;

function tooLong(length: number, maximum: number): Faults {
  return length > maximum ? [`must be no more than ${maximum} characters`] : none;
}

function mustMatch(matches: boolean, rule: string, pattern: string, ...examples: readonly string[]): Faults {
  if (matches) return none;
  const shown = examples.map((example) => `'${example}'`).join(', ');
  return [`${rule} (for example ${shown}; regex used for validation is '${pattern}')`];
}

/** Names of most objects: `example.com`, at most 253 characters. */
export function dnsSubdomainFaults(name: string): Faults {
  // Label by label, because the whole expression backtracks badly on long names.
  const matches = name.length <= 4096 && name.split('.').every((label) => labelExpression.test(label));
  return [
    ...tooLong(name.length, maximumSubdomainLength),
    ...mustMatch(
      matches,
      "a lowercase RFC 1123 subdomain consists of lower case alphanumeric characters, '-' and '.', and starts and ends with an alphanumeric character",
      subdomainPattern,
      'example.com',
    ),
  ];
}

/** Names of namespaces, ports, disks: `my-name`, at most 63 characters. */
export function dnsLabelFaults(name: string): Faults {
  return [
    ...tooLong(name.length, maximumLabelLength),
    ...mustMatch(
      labelExpression.test(name),
      "a lowercase RFC 1123 label consists of lower case alphanumeric characters and '-', and starts and ends with an alphanumeric character",
      labelPattern,
      'my-name',
      '123-abc',
    ),
  ];
}

/** Names of services: as a DNS label, but starting with a letter. */
export function dns1035LabelFaults(name: string): Faults {
  return [
    ...tooLong(name.length, maximumLabelLength),
    ...mustMatch(
      label1035Expression.test(name),
      "an RFC 1035 label consists of lower case alphanumeric characters and '-', starts with a letter and ends with an alphanumeric character",
      label1035Pattern,
      'my-name',
      'abc-123',
    ),
  ];
}

/** Names of RBAC objects: anything that is one segment of a URL path. */
export function pathSegmentFaults(name: string): Faults {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Keys of labels and annotations, types of conditions, finalizers: `name` or `example.com/name`. */
export function qualifiedNameFaults(key: string): Faults {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      "a qualified name has at most one '/', between an optional DNS subdomain and a name (for example 'MyName', 'example.com/MyName')",
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const faults: string[] = [];
  if (prefix === '') faults.push('prefix part must be non-empty');
  else if (prefix !== undefined)
    faults.push(...dnsSubdomainFaults(prefix).map((fault) => `prefix part ${fault}`));
  if (name === '') return [...faults, 'name part must be non-empty'];
  return [
    ...faults,
    ...tooLong(name.length, maximumLabelLength).map((fault) => `name part ${fault}`),
    ...mustMatch(
      keyNameExpression.test(name),
      "name part must consist of alphanumeric characters, '-', '_' and '.', and must start and end with an alphanumeric character",
      keyNamePattern,
      'MyName',
      'my.name',
      '123-abc',
    ),
  ];
}

/** Values of labels: empty, or at most 63 of a small set of characters. */
export function labelValueFaults(value: string): Faults {
  return [
    ...tooLong(value.length, maximumLabelLength),
    ...mustMatch(
      value === '' || keyNameExpression.test(value),
      "a valid label is empty or consists of alphanumeric characters, '-', '_' and '.', and starts and ends with an alphanumeric character",
      labelValuePattern,
      'MyValue',
      'my_value',
      '12345',
    ),
  ];
}

/** The finalizers that Kubernetes itself knows by their bare name. */
export const standardFinalizers = ['orphan', 'foregroundDeletion', 'kubernetes'] as const;

/** Finalizers of any kind: a qualified name. */
export function finalizerNameFaults(name: string): Faults {
  return qualifiedNameFaults(name);
}

/** Finalizers of core kinds: besides, a name without a prefix must be a standard one. */
export function coreFinalizerNameFaults(name: string): Faults {
  const faults = qualifiedNameFaults(name);
  if (faults.length > 0 || name.includes('/')) return faults;
  return standardFinalizers.some((standard) => standard === name)
    ? none
    : ['name is neither a standard finalizer nor fully qualified (example.com/name)'];
}

/** `generateName` is checked as the start of a name: what is appended makes a trailing '-' or '.' good. */
export function prefixOf(check: (name: string) => Faults): (prefix: string) => Faults {
  return (prefix) => check(prefix.replace(/[-.]$/, 'a'));
}

/** The name rules that a kind can choose from. */
export const nameRules = {
  'dns-subdomain': dnsSubdomainFaults,
  'dns-label': dnsLabelFaults,
  'dns-1035-label': dns1035LabelFaults,
  'path-segment': pathSegmentFaults,
} as const;

export type NameRule = keyof typeof nameRules;
