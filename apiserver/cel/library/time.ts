/** Points in time and spans between them, in nanoseconds. */
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type CelFunction, type Library } from './function.js';

const perSecond = 1_000_000_000n;
const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  ms: 1_000_000n,
  s: perSecond,
  m: 60n * perSecond,
  h: 3600n * perSecond,
};

class Duration extends Opaque {
  readonly type = 'google.protobuf.Duration';

  constructor(readonly nanos: bigint) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Duration && other.nanos === this.nanos;
  }

  override compare(other: Value): number | undefined {
    if (!(other instanceof Duration)) return undefined;
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  override operate(operator: string, other: Value): Value | undefined {
    if (other instanceof Timestamp && operator === '+') return new Timestamp(other.nanos + this.nanos);
    if (!(other instanceof Duration)) return undefined;
    if (operator === '+') return new Duration(this.nanos + other.nanos);
    return operator === '-' ? new Duration(this.nanos - other.nanos) : undefined;
  }

  override call(name: string, values: readonly Value[]): Value | undefined {
    if (values.length > 0) return undefined;
    switch (name) {
      case 'getHours':
        return this.nanos / (3600n * perSecond);
      case 'getMinutes':
        return this.nanos / (60n * perSecond);
      case 'getSeconds':
        return this.nanos / perSecond;
      case 'getMilliseconds':
        return (this.nanos / 1_000_000n) % 1000n;
      case 'string':
        return `${decimal(this.nanos)}s`;
      default:
        return undefined;
    }
  }
}

class Timestamp extends Opaque {
  readonly type = 'google.protobuf.Timestamp';

  constructor(readonly nanos: bigint) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Timestamp && other.nanos === this.nanos;
  }

  override compare(other: Value): number | undefined {
    if (!(other instanceof Timestamp)) return undefined;
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  override operate(operator: string, other: Value): Value | undefined {
    if (other instanceof Timestamp && operator === '-') return new Duration(this.nanos - other.nanos);
    if (!(other instanceof Duration)) return undefined;
    if (operator === '+') return new Timestamp(this.nanos + other.nanos);
    return operator === '-' ? new Timestamp(this.nanos - other.nanos) : undefined;
  }

  override call(name: string, [zone]: readonly Value[]): Value | undefined {
    if (zone !== undefined && typeof zone !== 'string') return undefined;
    if (name === 'string') return this.#text();
    const shifted = new Date(Number(this.nanos / 1_000_000n) + offsetOf(zone));
    const part = parts[name];
    return part === undefined ? undefined : BigInt(part(shifted));
  }

  #text(): string {
    const date = new Date(Number(this.nanos / 1_000_000n)).toISOString().slice(0, 19);
    const fraction = this.nanos % perSecond;
    return fraction === 0n
      ? `${date}Z`
      : `${date}.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}Z`;
  }
}

const startOfYear = (date: Date): number => Date.UTC(date.getUTCFullYear(), 0, 1);

const parts: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: (date) => Math.floor((date.getTime() - startOfYear(date)) / 86_400_000),
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
  getMilliseconds: (date) => date.getUTCMilliseconds(),
};

/** Milliseconds. Zones are UTC and fixed offsets: `+02:00`. */
function offsetOf(zone: string | undefined): number {
  if (zone === undefined || zone === '' || zone === 'UTC') return 0;
  const [all, sign, hours = '', minutes = ''] = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone) ?? [];
  if (all === undefined) throw new EvaluationError(`the time zone ${JSON.stringify(zone)} is not known`);
  return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
}

function decimal(nanos: bigint): string {
  const [sign, absolute] = nanos < 0n ? ['-', -nanos] : ['', nanos];
  const fraction = (absolute % perSecond).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${absolute / perSecond}${fraction === '' ? '' : `.${fraction}`}`;
}

function parseDuration(text: string): Duration {
  const [all, sign = '', body = ''] =
    /^([+-]?)((?:(?:\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})(?:ns|us|µs|ms|s|m|h))+|0)$/.exec(text) ?? [];
  if (all === undefined) throw new EvaluationError(`${JSON.stringify(text)} is no duration`);
  let nanos = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(
    /(\d*)(?:\.(\d*))?(ns|us|µs|ms|s|m|h)/g,
  )) {
    const scale = units[unit] ?? 0n;
    nanos += BigInt(whole === '' ? 0 : whole) * scale;
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  return new Duration(sign === '-' ? -nanos : nanos);
}

function parseTimestamp(text: string): Timestamp {
  const [all, date = '', fraction = '', zone = ''] =
    /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/.exec(text) ?? [];
  const milliseconds = Date.parse(`${date}${zone}`);
  if (all === undefined || Number.isNaN(milliseconds))
    throw new EvaluationError(`${JSON.stringify(text)} is no timestamp of RFC 3339`);
  return new Timestamp(BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}

const same =
  (type: typeof Duration | typeof Timestamp, parse: CelFunction): CelFunction =>
  (...values) =>
    values[0] instanceof type ? values[0] : parse(...values);

export const times: Library = {
  duration: same(Duration, onText(parseDuration)),
  timestamp: same(Timestamp, (value) =>
    typeof value === 'bigint' ? new Timestamp(value * perSecond) : onText(parseTimestamp)(value ?? null),
  ),
};
