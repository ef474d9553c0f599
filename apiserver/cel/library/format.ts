/** Formats by name: `format.dns1123Label().validate(name)` tells what is wrong, or nothing. */
import {
  dns1035LabelFaults,
  dnsLabelFaults,
  dnsSubdomainFaults,
  labelValueFaults,
  qualifiedNameFaults,
  type Faults,
} from '../../../openapi/names.js';
import { formats as schemaFormats } from '../../../openapi/validation/formats.js';
import { Opaque, type Value } from '../values.js';
import { Optional, present } from './optional.js';
import type { Library } from './function.js';
import { isUrl } from './url.js';

class FormatValue extends Opaque {
  readonly type = 'kubernetes.NamedFormat';

  constructor(
    private readonly name: string,
    private readonly faults: (text: string) => Faults,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }

  override call(name: string, [text]: readonly Value[]): Value | undefined {
    if (name !== 'validate' || typeof text !== 'string') return undefined;
    const faults = this.faults(text);
    return faults.length === 0 ? new Optional(undefined) : present(faults);
  }
}

const byPattern =
  (what: string, pattern: RegExp): ((text: string) => Faults) =>
  (text) =>
    pattern.test(text) ? [] : [`must be ${what}`];

function bySchema(name: string): (text: string) => Faults {
  return (text) => {
    const format = schemaFormats[name];
    return format?.type === 'string' && !format.validate(text) ? [`must be in the format ${name}`] : [];
  };
}

/** A dash at the end may be followed by what makes it good. */
function asPrefix(faults: (text: string) => Faults): (text: string) => Faults {
  return (text) => faults(text.replace(/(?<=.)-$/, 'a'));
}

/** A day that there is. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const named: Readonly<Record<string, (text: string) => Faults>> = {
  dns1123Label: dnsLabelFaults,
  dns1123Subdomain: dnsSubdomainFaults,
  dns1035Label: dns1035LabelFaults,
  qualifiedName: qualifiedNameFaults,
  dns1123LabelPrefix: asPrefix(dnsLabelFaults),
  dns1123SubdomainPrefix: asPrefix(dnsSubdomainFaults),
  dns1035LabelPrefix: asPrefix(dns1035LabelFaults),
  labelValue: labelValueFaults,
  uri: (text) => (isUrl(text) ? [] : ['must be a URI']),
  uuid: byPattern('a UUID', /^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$/),
  byte: bySchema('byte'),
  date: (text) => (isDate(text) ? [] : ['must be a date']),
  datetime: bySchema('date-time'),
};

const formatOf = (name: string): FormatValue | undefined => {
  const faults = Object.hasOwn(named, name) ? named[name] : undefined;
  return faults === undefined ? undefined : new FormatValue(name, faults);
};

export const formats: Library = {
  'format.named': (name) => (typeof name === 'string' ? present(formatOf(name)) : undefined),
  ...Object.fromEntries(
    Object.keys(named).map((name) => [
      `format.${name}`,
      (...values: readonly Value[]) => (values.length === 0 ? formatOf(name) : undefined),
    ]),
  ),
};
