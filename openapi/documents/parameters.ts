/** The parameters of the API's operations. */
import type { QueryParameter } from './subresource-details.js';

export interface Parameter {
  readonly in: 'path' | 'query';
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer';
  readonly description: string;
}

export function path(name: string, description: string): Parameter {
  return { in: 'path', name, type: 'string', description };
}

export function query({ name, type, description }: QueryParameter): Parameter {
  return { in: 'query', name, type, description };
}

const text = (name: string, description: string): Parameter => query({ name, type: 'string', description });
const flag = (name: string, description: string): Parameter => query({ name, type: 'boolean', description });
const whole = (name: string, description: string): Parameter => query({ name, type: 'integer', description });

export const namespace: Parameter = path('namespace', 'namespace of the object');
export const pretty: Parameter = text('pretty', 'If true, the answer is indented.');

const dryRun = text('dryRun', 'With `All` every check runs and nothing is stored.');
const labelSelector = text('labelSelector', 'Only objects whose labels match, as in `app=web,tier!=front`.');
const fieldSelector = text('fieldSelector', 'Only objects whose fields match, as in `metadata.name=a`.');
const resourceVersion = text(
  'resourceVersion',
  'How new the answer must be: absent for the newest, `0` for any, else at least as new as this version.',
);
const resourceVersionMatch = text(
  'resourceVersionMatch',
  'How resourceVersion is meant: `Exact` or `NotOlderThan`.',
);
const limit = whole('limit', 'At most this many objects; the answer then has a token for the rest.');
const continueToken = text('continue', 'The token of the answer before, to get the next page.');
const timeoutSeconds = whole('timeoutSeconds', 'Seconds after which the server ends the request.');
const sendInitialEvents = flag(
  'sendInitialEvents',
  'Whether a watch begins with the objects that there are, and then a bookmark.',
);
const watch = flag('watch', 'Send changes as they happen instead of a list.');
const allowWatchBookmarks = flag(
  'allowWatchBookmarks',
  'Whether a watch may send events that only carry a version.',
);

export const list: readonly Parameter[] = [
  allowWatchBookmarks,
  continueToken,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
  watch,
];

export const selection: readonly Parameter[] = [
  continueToken,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  timeoutSeconds,
];

/** kubectl takes a kind that has `fieldValidation` to check unknown fields, and then does not do so itself. */
export const write: readonly Parameter[] = [
  dryRun,
  text('fieldManager', 'The name under which the changed fields are owned.'),
  text('fieldValidation', 'What to do about unknown and duplicate fields: `Ignore`, `Warn` or `Strict`.'),
];

export const force: Parameter = flag('force', 'Whether an apply takes over fields that others own.');

export const deletion: readonly Parameter[] = [
  dryRun,
  whole('gracePeriodSeconds', 'Seconds that the object may take to end; 0 deletes it at once.'),
  flag('orphanDependents', 'Deprecated: use propagationPolicy.'),
  text('propagationPolicy', 'What happens to dependent objects: `Orphan`, `Background` or `Foreground`.'),
];
