/**
 * Field numbers of the messages that clients of the core kinds send. One line is one message, or goes on with an indent:
 * `Message: number name type, …`.
 *
 * A type is a scalar (`string`, `bytes`, `int`, `bool`), a well-known type (`time`, `microTime`, `quantity`, `intOrString`,
 * `json`, `strings`), or a message. `[type]` is a list, `{type}` a map from strings. A `?` says that the zero is a value,
 * not an absence. The name `~` is of a message whose members are those of the object around it.
 *
 * No message holds itself, at whatever depth: this bounds how deep a body can nest.
 */
import { coreMessages } from './messages/core.js';
import { metaMessages } from './messages/meta.js';
import { nodeMessages } from './messages/node.js';
import { podMessages } from './messages/pod.js';
import { rbacMessages } from './messages/rbac.js';
import { reviewsMessages } from './messages/reviews.js';
import { smallGroupMessages } from './messages/small-groups.js';
import { volumeMessages } from './messages/volume.js';

export interface FieldType {
  /** Of the member of the JSON object; unused if `inline`. */
  readonly name: string;
  /** A scalar, a well-known type or a message. */
  readonly type: string;
  readonly shape: 'one' | 'list' | 'map' | 'inline';
  /** Whether the zero of a scalar is a value. */
  readonly explicitZero: boolean;
}

export type Message = ReadonlyMap<number, FieldType>;

/** The kinds of each version that can be decoded. */
const kinds: Readonly<Record<string, string>> = {
  v1:
    'Namespace Secret ConfigMap ServiceAccount Service ResourceQuota Event Binding Pod Node PersistentVolume ' +
    'PersistentVolumeClaim',
  'apps/v1': 'ControllerRevision',
  'authentication.k8s.io/v1': 'SelfSubjectReview TokenReview TokenRequest',
  'authorization.k8s.io/v1':
    'SelfSubjectAccessReview SubjectAccessReview LocalSubjectAccessReview SelfSubjectRulesReview',
  'coordination.k8s.io/v1': 'Lease',
  'policy/v1': 'PodDisruptionBudget Eviction',
  'rbac.authorization.k8s.io/v1': 'Role ClusterRole RoleBinding ClusterRoleBinding',
  'scheduling.k8s.io/v1': 'PriorityClass',
  'storage.k8s.io/v1': 'StorageClass',
};

/** The name of the message that holds an object; undefined if it is of a kind that is not read. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  // Clients send these in the version of what they delete.
  if (kind === 'DeleteOptions') return kind;
  const known = Object.hasOwn(kinds, apiVersion) && kinds[apiVersion]?.split(' ').includes(kind);
  return known === true ? kind : undefined;
}

/** Every message that is read, for tests. */
export function messageNames(): readonly string[] {
  return [...definitions().keys()];
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return [text.slice(0, index), text.slice(index + at.length)];
}

/** Fields of each message as they are written; made when the first body is decoded. */
let written: ReadonlyMap<string, string> | undefined;

function definitions(): ReadonlyMap<string, string> {
  written ??= new Map(
    [
      ...[metaMessages, coreMessages, podMessages, volumeMessages, nodeMessages],
      ...[rbacMessages, reviewsMessages, smallGroupMessages],
    ].flatMap((group) =>
      group
        .replaceAll(/\n +/g, ' ')
        .trim()
        .split('\n')
        .map((line) => split(line, ': ')),
    ),
  );
  return written;
}

function parseField(text: string): [number, FieldType] {
  const [number = '', name = '', notation = ''] = text.split(' ');
  const explicitZero = notation.endsWith('?');
  const bare = explicitZero ? notation.slice(0, -1) : notation;
  const shape =
    name === '~' ? 'inline' : bare.startsWith('[') ? 'list' : bare.startsWith('{') ? 'map' : 'one';
  const type = shape === 'list' || shape === 'map' ? bare.slice(1, -1) : bare;
  return [Number(number), { name, type, shape, explicitZero }];
}

/** Parsed once for each message that is met. */
const parsed = new Map<string, Message>();

/** The fields of a message by their numbers. */
export function fieldsOf(message: string): Message {
  let fields = parsed.get(message);
  if (fields === undefined) {
    const text = definitions().get(message);
    if (text === undefined) throw new Error(`there is no message ${message}`);
    fields = new Map(text.split(', ').map(parseField));
    parsed.set(message, fields);
  }
  return fields;
}
