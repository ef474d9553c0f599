/** How far clocks of a time zone are ahead of UTC. */
import { EvaluationError } from '../values.js';

const known = new Map<string, Intl.DateTimeFormat>();
const maximumKnown = 50;

/**
 * @param zone a name of IANA's (`Europe/Berlin`) or an offset (`+02:00`); UTC if absent
 * @param at milliseconds since 1970
 * @returns milliseconds
 */
export function zoneOffset(zone: string | undefined, at: number): number {
  if (zone === undefined || zone === '' || zone === 'UTC') return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d{2}):(\d{2})$/.exec(zone) ?? [];
  if (hours !== undefined) return (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = new Date(0);
  shown.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  shown.setUTCHours(part('hour'), part('minute'), part('second'));
  return shown.getTime() - Math.floor(at / 1000) * 1000;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const cached = known.get(zone);
  if (cached !== undefined) return cached;
  if (known.size >= maximumKnown) known.clear();
  const format = createFormat(zone);
  known.set(zone, format);
  return format;
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  const unknown = (cause?: unknown): EvaluationError =>
    new EvaluationError(`unknown time zone ${timeZone}`, { cause });
  // What else is written with a colon is no name, though newer engines take it for an offset.
  if (timeZone.includes(':') || /^[+-]/.test(timeZone)) throw unknown();
  try {
    const whole = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
    return new Intl.DateTimeFormat('en-US', {
      ...whole,
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
      calendar: 'gregory',
      numberingSystem: 'latn',
      timeZone,
    });
  } catch (error) {
    if (error instanceof RangeError) throw unknown(error);
    throw error;
  }
}
