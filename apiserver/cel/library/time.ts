/** Points in time and spans between them, in nanoseconds. */
import { inRange } from '../operators.js';
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type CelFunction, type Library } from './function.js';
import { zoneOffset } from './time-zones.js';

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

export class Duration extends Opaque {
  readonly type = 'google.protobuf.Duration';

  constructor(readonly nanos: bigint) {
    super();
    inRange(nanos);
  }

  override equals(other: Value): boolean {
    return other instanceof Duration && other.nanos === this.nanos;
  }

  override compare(other: Value): number | undefined {
    if (!(other instanceof Duration)) return undefined;
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  override operate(operator: string, other: Value): Value | undefined {
    if (other instanceof Timestamp && operator === '+') return other.plus(this.nanos);
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
        return this.nanos / 1_000_000n;
      case 'string':
        return this.json();
      case 'int':
        return this.nanos;
      default:
        return undefined;
    }
  }

  override isZero(): boolean {
    return this.nanos === 0n;
  }

  override json(): string {
    return `${decimal(this.nanos)}s`;
  }
}

/** The years 1 to 9999, in nanoseconds. */
const earliest = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1_000_000n;
const latest = BigInt(Date.parse('9999-12-31T23:59:59.999Z')) * 1_000_000n + 999_999n;

export class Timestamp extends Opaque {
  readonly type = 'google.protobuf.Timestamp';

  /** @param zone as it was written, `+02:00`; undefined: UTC */
  constructor(
    readonly nanos: bigint,
    private readonly zone?: string,
  ) {
    super();
    if (nanos < earliest || nanos > latest) throw new EvaluationError('timestamp overflow');
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
    if (operator === '+') return this.plus(other.nanos);
    return operator === '-' ? this.plus(-other.nanos) : undefined;
  }

  plus(nanos: bigint): Timestamp {
    return new Timestamp(this.nanos + nanos, this.zone);
  }

  override call(name: string, [zone]: readonly Value[]): Value | undefined {
    if (zone !== undefined && typeof zone !== 'string') return undefined;
    if (name === 'string') return this.text();
    if (name === 'int') return floor(this.nanos, perSecond);
    const part = parts[name];
    if (part === undefined) return undefined;
    const milliseconds = Number(floor(this.nanos, 1_000_000n));
    return BigInt(part(new Date(milliseconds + zoneOffset(zone, milliseconds))));
  }

  /** In its own zone. */
  text(): string {
    return this.#in(this.zone);
  }

  override json(): string {
    return this.#in(undefined);
  }

  #in(zone: string | undefined): string {
    const seconds = floor(this.nanos, perSecond);
    const date = new Date(Number(seconds) * 1000 + zoneOffset(zone, 0)).toISOString().slice(0, 19);
    const fraction = (this.nanos - seconds * perSecond).toString().padStart(9, '0').replace(/0+$/, '');
    return `${date}${fraction === '' ? '' : `.${fraction}`}${zone ?? 'Z'}`;
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

/** The whole number below. */
function floor(value: bigint, by: bigint): bigint {
  return value / by - (value % by < 0n ? 1n : 0n);
}

function decimal(nanos: bigint): string {
  const [sign, absolute] = nanos < 0n ? ['-', -nanos] : ['', nanos];
  const fraction = (absolute % perSecond).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${absolute / perSecond}${fraction === '' ? '' : `.${fraction}`}`;
}

function unlike(type: string): EvaluationError {
  return new EvaluationError(`type conversion error from 'string' to 'google.protobuf.${type}'`);
}

function parseDuration(text: string): Duration {
  const [all, sign = '', body = ''] =
    /^([+-]?)((?:(?:\d{1,12}(?:\.\d{0,9})?|\.\d{1,9})(?:ns|us|µs|ms|s|m|h))+|0)$/.exec(text) ?? [];
  if (all === undefined) throw unlike('Duration');
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
  if (all === undefined || Number.isNaN(milliseconds)) throw unlike('Timestamp');
  const own = /^[Zz]$|^[+-]00:00$/.test(zone) ? undefined : zone;
  return new Timestamp(BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0')), own);
}

const same =
  (type: typeof Duration | typeof Timestamp, parse: CelFunction): CelFunction =>
  (...values) =>
    values[0] instanceof type ? values[0] : parse(...values);

export const times: Library = {
  duration: same(Duration, (value) =>
    typeof value === 'bigint' ? new Duration(value) : onText(parseDuration)(value ?? null),
  ),
  timestamp: same(Timestamp, (value) =>
    typeof value === 'bigint' ? new Timestamp(value * perSecond) : onText(parseTimestamp)(value ?? null),
  ),
};
