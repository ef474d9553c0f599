/** Finds what a VM's `spec.instancetype` or `spec.preference` stands for. The same for admission and for controllers. */
import type { ControllerRevision } from '../generated/types/apps_v1.js';
import type {
  InstancetypeMatcher,
  InstancetypeStatusRef,
  VirtualMachine,
} from '../generated/types/kubevirt_v1.js';
import {
  findReferredKind,
  referredKinds,
  type ReferredKind,
  type Referent,
  type SpecOf,
  type Subject,
} from './kinds.js';
import { referentOf, revisionLabels } from './revision.js';

/** Where objects are read from; undefined for what is not there. */
export interface ReferentSource {
  revision(namespace: string | undefined, name: string): Promise<ControllerRevision | undefined>;
  object<S extends Subject>(
    kind: ReferredKind,
    namespace: string | undefined,
    name: string,
  ): Promise<Referent<S> | undefined>;
}

export type Resolution<S extends Subject> =
  /** The VM refers to none. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'found';
      readonly spec: SpecOf[S];
      readonly object: Referent<S>;
      /** Absent if it is the object itself, not a copy. */
      readonly revision?: ControllerRevision;
    }
  | {
      readonly kind: 'missing';
      /** Of the VM. */
      readonly field: string;
      readonly message: string;
    };

export function matcherOf(vm: VirtualMachine, subject: Subject): InstancetypeMatcher | undefined {
  return vm.spec[subject];
}

export function statusRefOf(vm: VirtualMachine, subject: Subject): InstancetypeStatusRef | undefined {
  return subject === 'instancetype' ? vm.status?.instancetypeRef : vm.status?.preferenceRef;
}

/** The copy that is named, by the user or by what the controller has recorded, before the object as it is now. */
export async function resolve<S extends Subject>(
  subject: S,
  vm: VirtualMachine,
  source: ReferentSource,
): Promise<Resolution<S>> {
  const matcher = matcherOf(vm, subject);
  if (matcher === undefined) return { kind: 'none' };
  const named = matcher.revisionName ?? '';
  const recorded = statusRefOf(vm, subject)?.controllerRevisionRef?.name ?? '';
  if (named !== '' || recorded !== '') {
    const name = named === '' ? recorded : named;
    const revision = await source.revision(vm.metadata.namespace, name);
    if (revision === undefined)
      return missing(subject, 'revisionName', `ControllerRevision ${quote(name)} not found`);
    // A recorded copy counts as long as it is of what is referred to now.
    if (named !== '' || isCopyOf(subject, matcher, revision)) return fromRevision(subject, revision);
  }
  return fromObject(subject, matcher, vm.metadata.namespace, source);
}

function isCopyOf(
  subject: Subject,
  { name, kind }: InstancetypeMatcher,
  { metadata: { labels = {} } }: ControllerRevision,
): boolean {
  const copied = labels[revisionLabels.kind];
  return (
    labels[revisionLabels.name] === name &&
    (copied === undefined || copied === findReferredKind(subject, kind)?.kind)
  );
}

function fromRevision<S extends Subject>(subject: S, revision: ControllerRevision): Resolution<S> {
  const object = referentOf(subject, revision);
  if (object !== undefined) return { kind: 'found', spec: object.spec, object, revision };
  const name = quote(revision.metadata.name);
  return missing(subject, 'revisionName', `ControllerRevision ${name} holds no ${subject} that can be read`);
}

async function fromObject<S extends Subject>(
  subject: S,
  { name = '', kind: word, inferFromVolume = '' }: InstancetypeMatcher,
  namespace: string | undefined,
  source: ReferentSource,
): Promise<Resolution<S>> {
  if (name === '' && inferFromVolume !== '')
    return missing(subject, 'inferFromVolume', `not inferred from volume ${quote(inferFromVolume)} yet`);
  const kind = findReferredKind(subject, word);
  if (kind === undefined) {
    const known = referredKinds(subject).map((each) => each.kind);
    return missing(subject, 'kind', `${quote(word ?? '')} is neither ${known.join(' nor ')}`);
  }
  const object = await source.object<S>(kind, kind.namespaced ? namespace : undefined, name);
  if (object !== undefined) return { kind: 'found', spec: object.spec, object };
  const where = kind.namespaced ? ` in namespace ${quote(namespace ?? '')}` : '';
  return missing(subject, 'name', `${kind.kind} ${quote(name)} not found${where}`);
}

const quote = (text: string): string => JSON.stringify(text);

function missing(subject: Subject, member: string, message: string): Resolution<never> & { kind: 'missing' } {
  return { kind: 'missing', field: `spec.${subject}.${member}`, message };
}
