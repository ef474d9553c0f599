/** Durations as Go writes them. */

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** A Go duration (`1m30s`, `500ms`) in milliseconds; `undefined` if it is none. */
export function parseDurationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!/^(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit = 's'] of text.matchAll(/(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit] ?? 0);
  }
  return total;
}
