/** Compares an answer with the recorded one. What was recorded must be there; more may be. */
import type { Recorded, Step } from './golden.js';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly warnings: readonly string[];
  /** Parsed JSON; of a watch, the list of its events; else text. */
  readonly body: unknown;
  readonly ended: boolean;
}

/** Compared for presence only: they differ from run to run, or are prose. */
const volatileKeys: ReadonlySet<string> = new Set([
  'description',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'time',
  'continue',
  'remainingItemCount',
  'selfLink',
]);
const volatile = '<volatile>';

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with all volatile values made alike. An empty one stays, since an empty token says that the list has ended. */
export function scrub(value: unknown, key?: string): unknown {
  if (key !== undefined && volatileKeys.has(key) && typeof value !== 'object' && value !== undefined) {
    return value === '' ? '' : volatile;
  }
  if (Array.isArray(value)) return value.map((item) => scrub(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, scrub(member, name)]));
}

/** The value at `metadata/labels/a~1b`. */
export function pick(value: unknown, path: string): unknown {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replaceAll('~1', '/'))
    .reduce<unknown>(
      (inner, part) => (typeof inner === 'object' && inner !== null ? (inner as Json)[part] : undefined),
      value,
    );
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 300);
}

function missing(want: unknown, got: unknown, at: string): string[] {
  if (want === volatile) return got === undefined || got === '' ? [`${at}: missing`] : [];
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length)
      return [`${at}: want ${show(want)}, got ${show(got)}`];
    return want.flatMap((item, i) => missing(item, got[i], `${at}/${i}`));
  }
  if (isObject(want)) {
    if (!isObject(got)) return [`${at}: want an object, got ${show(got)}`];
    return Object.entries(want).flatMap(([key, member]) => missing(member, got[key], `${at}/${key}`));
  }
  return want === got ? [] : [`${at}: want ${show(want)}, got ${show(got)}`];
}

function causesOf(status: unknown): readonly string[] {
  const causes = pick(status, 'details/causes');
  if (!Array.isArray(causes)) return [];
  return causes.map((cause) => `${String(pick(cause, 'reason'))} ${String(pick(cause, 'field'))}`).sort();
}

function compareStatus(step: Step, want: unknown, got: unknown): string[] {
  const fields = ['kind', 'apiVersion', 'status', 'reason', 'code'];
  const details = ['name', 'group', 'kind'].map((key) => `details/${key}`);
  const recorded = details.filter((path) => pick(want, path) !== undefined);
  return [
    ...[...fields, ...recorded, ...(step.message === true ? ['message'] : [])].flatMap((path) =>
      missing(pick(want, path), pick(got, path), path),
    ),
    ...(step.causes === false ? [] : missing(causesOf(want), causesOf(got), 'causes')),
  ];
}

function compareBody(step: Step, want: unknown, got: unknown): string[] {
  if (step.check !== undefined) {
    const wrong = step.check.flatMap((path) => missing(pick(want, path), pick(got, path), path));
    const present = (step.absent ?? []).filter(
      (path) => ![undefined, ''].includes(pick(got, path) as string),
    );
    return [...wrong, ...present.map((path) => `${path}: want it absent, got ${show(pick(got, path))}`)];
  }
  if (pick(want, 'kind') === 'Status' && pick(want, 'apiVersion') === 'v1')
    return compareStatus(step, want, got);
  return missing(want, got, '');
}

/** What differs, a line each. */
export function differences(step: Step, want: Recorded, got: Answer): string[] {
  const body = scrub(got.body);
  if (want.status === '4xx' && got.status >= 400 && got.status < 500) {
    return pick(body, 'kind') === 'Status' ? [] : ['want a Status'];
  }
  if (want.status !== got.status) return [`want status ${want.status}, got ${got.status} ${show(got.body)}`];
  return [
    ...missing(want.contentType, got.contentType, 'content type'),
    ...(want.warnings.length === got.warnings.length
      ? []
      : [`want warnings ${show(want.warnings)}, got ${show(got.warnings)}`]),
    ...missing(want.ended, got.ended, 'ended by the server'),
    ...compareBody(step, want.body, body),
  ];
}
