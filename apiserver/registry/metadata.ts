/** What the server itself puts into ObjectMeta, and what it lets no client change. */
import type { KubernetesObject, New, ObjectMeta } from '../../openapi/meta.js';
import { omit } from '../codec/omit.js';
import { badRequest } from '../errors/api-error.js';
import type { Strategy } from './resource.js';

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

const suffixLength = 5;
const longestBase = 63 - suffixLength;
/** No vowels, so that no words appear, and no characters that look alike. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A name that begins with `base` and is unlikely to be taken. `random` gives bytes. */
export function generateName(base: string, random: (bytes: number) => Uint8Array): string {
  const suffix = Array.from(random(suffixLength), (byte) =>
    suffixAlphabet.charAt(byte % suffixAlphabet.length),
  );
  return base.slice(0, longestBase) + suffix.join('');
}

export interface NewIdentity {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
  readonly now: string;
}

/** An object as a client sent it or a patch made it: decoded and pruned, but not yet completed by the server. */
export type Draft = New<KubernetesObject>;

/** Whether a draft names no revision: no object ever has the revision 0. */
export function isUnset(resourceVersion: string | undefined): boolean {
  return resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0';
}

/** The new object that a draft stands for. What a client sent for the server's part of the metadata is dropped. */
export function completeNew(draft: Draft, identity: NewIdentity, strategy: Strategy): KubernetesObject {
  if (!isUnset(draft.metadata.resourceVersion)) {
    throw badRequest('metadata.resourceVersion must not be set on an object that is to be created');
  }
  return {
    ...draft,
    metadata: {
      ...omit(
        draft.metadata,
        'namespace',
        'resourceVersion',
        'deletionTimestamp',
        'deletionGracePeriodSeconds',
        'generation',
      ),
      name: identity.name,
      ...(identity.namespace === undefined ? {} : { namespace: identity.namespace }),
      uid: identity.uid,
      resourceVersion: '',
      creationTimestamp: identity.now,
      ...(strategy.generation === false ? {} : { generation: 1 }),
    },
  };
}

/**
 * The object that an update makes of a draft: what a client may leave out is filled in from `old`. What it changed although it
 * may not is kept here, for the rules to refuse.
 */
export function completeUpdate(draft: Draft, old: KubernetesObject): KubernetesObject {
  const sent = omit(draft.metadata, 'generation', 'resourceVersion');
  const before = old.metadata;
  return {
    ...draft,
    metadata: {
      ...sent,
      name: sent.name ?? before.name,
      ...(before.namespace === undefined ? {} : { namespace: sent.namespace ?? before.namespace }),
      uid: sent.uid === undefined || sent.uid === '' ? before.uid : sent.uid,
      resourceVersion: before.resourceVersion,
      creationTimestamp: sent.creationTimestamp ?? before.creationTimestamp,
      ...(before.generation === undefined ? {} : { generation: before.generation }),
      ...deletionOf(sent.deletionTimestamp === undefined ? before : sent, before),
    },
  };
}

/** The deletion that is under way; its period can not be changed by an update. */
function deletionOf(
  sent: Partial<ObjectMeta>,
  { deletionGracePeriodSeconds }: ObjectMeta,
): Pick<ObjectMeta, 'deletionTimestamp' | 'deletionGracePeriodSeconds'> {
  if (sent.deletionTimestamp === undefined) return {};
  return {
    deletionTimestamp: sent.deletionTimestamp,
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
}
