/** Ages as `kubectl get` shows them: two units where the second still matters, one where it does not. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

function units(
  milliseconds: number,
  large: number,
  largeName: string,
  small: number,
  smallName: string,
): string {
  const rest = Math.floor((milliseconds % large) / small);
  const whole = `${Math.floor(milliseconds / large)}${largeName}`;
  return rest === 0 ? whole : `${whole}${rest}${smallName}`;
}

/** `45s`, `3m20s`, `25m`, `3h12m`, `40h`, `5d3h`, `30d`, `3y12d`. A time just ahead, from a clock that differs, is 0s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < -second) return '<invalid>';
  if (milliseconds < second) return '0s';
  if (milliseconds < 2 * minute) return `${Math.floor(milliseconds / second)}s`;
  if (milliseconds < 10 * minute) return units(milliseconds, minute, 'm', second, 's');
  if (milliseconds < 3 * hour) return `${Math.floor(milliseconds / minute)}m`;
  if (milliseconds < 8 * hour) return units(milliseconds, hour, 'h', minute, 'm');
  if (milliseconds < 2 * day) return `${Math.floor(milliseconds / hour)}h`;
  if (milliseconds < 8 * day) return units(milliseconds, day, 'd', hour, 'h');
  if (milliseconds < 2 * year) return `${Math.floor(milliseconds / day)}d`;
  if (milliseconds < 8 * year) return units(milliseconds, year, 'y', day, 'd');
  return `${Math.floor(milliseconds / year)}y`;
}

/** The age of an RFC 3339 time; `<unknown>` for what is none. */
export function formatAge(time: string, now: number): string {
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? '<unknown>' : formatDuration(now - milliseconds);
}
