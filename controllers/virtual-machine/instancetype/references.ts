/**
 * What a VM's instancetype and preference make of it. By the cluster's reference policy the VM keeps its references, and with them a
 * copy of what they stood for when they were first used; or they are replaced by what they stand for.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ControllerRevision } from '../../../openapi/generated/types/apps_v1.js';
import type {
  InstancetypeStatusRef,
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineStatus,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { expandTemplate, type Choice, type ExpandedTemplate } from '../../../openapi/instancetype/expand.js';
import { findReferredKind, type Subject } from '../../../openapi/instancetype/kinds.js';
import { matcherOf, resolve, statusRefOf, type Resolution } from '../../../openapi/instancetype/reference.js';
import { isLatest, referentOf, revisionOf } from '../../../openapi/instancetype/revision.js';
import { createMergePatch } from '../../../openapi/merge-patch.js';
import { reasons } from '../../constants.js';
import type { Client } from '../../runtime/client.js';
import { isAlreadyExists, isNotFound } from '../../runtime/errors.js';
import { controllerRevisions, virtualMachines } from '../../runtime/kinds.js';
import { isControlledBy } from '../../runtime/writes.js';
import type { Failure } from '../status.js';
import { subjects, type InformedReferents } from './referents.js';

export type Settled =
  | {
      readonly kind: 'settled';
      /** With the template that instances are made of, and with the copies in its status. */
      readonly vm: VirtualMachine;
      /** Names of copies that are of no use once the status is written. */
      readonly superseded: readonly string[];
    }
  /** The references were replaced by what they stand for: this is the VM now. */
  | { readonly kind: 'rewritten'; readonly vm: VirtualMachine }
  /** The VM can not start as it is. */
  | { readonly kind: 'failed'; readonly failure: Failure };

type Resolutions = { readonly [S in Subject]: Resolution<S> };

export class References {
  constructor(
    private readonly client: Client,
    private readonly referents: InformedReferents,
    private readonly configuration: () => KubeVirtConfiguration,
  ) {}

  async settle(vm: VirtualMachine, signal: AbortSignal): Promise<Settled> {
    const { instancetype, network } = this.configuration();
    const policy = instancetype?.referencePolicy ?? 'reference';
    if (subjects.every((subject) => matcherOf(vm, subject) === undefined))
      return withoutReferences(vm, policy === 'expandAll');
    const resolutions: Resolutions = {
      instancetype: await resolve('instancetype', vm, this.referents),
      preference: await resolve('preference', vm, this.referents),
    };
    const missing = missingFailure(resolutions);
    if (missing !== undefined) return { kind: 'failed', failure: missing };
    const expansion = expandTemplate(vm.spec.template, choiceOf(resolutions), network);
    if (expansion.kind === 'conflicts') {
      const fields = expansion.conflicts.map(({ field }) => `spec.template.${field}`).join(', ');
      const message = `the instancetype decides what the VM also sets; remove from the VM: ${fields}`;
      return { kind: 'failed', failure: { reason: reasons.failedCreate, message } };
    }
    return policy === 'expandAll' ||
      (policy === 'expand' && !subjects.some((subject) => hasCopy(vm, subject)))
      ? { kind: 'rewritten', vm: await this.#rewrite(vm, expansion.template, signal) }
      : this.#capture(vm, resolutions, expansion.template, signal);
  }

  /** Deletes copies that nothing refers to any more. */
  async remove(vm: VirtualMachine, names: readonly string[], signal: AbortSignal): Promise<void> {
    for (const name of names) {
      try {
        await this.client.delete(controllerRevisions, { ...vm.metadata, name }, {}, signal);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }

  #rewrite(vm: VirtualMachine, template: ExpandedTemplate, signal: AbortSignal): Promise<VirtualMachine> {
    const { uid, resourceVersion } = vm.metadata;
    const wanted = { ...vm.spec, template };
    delete wanted.instancetype;
    delete wanted.preference;
    const body = { metadata: { uid, resourceVersion }, spec: createMergePatch({ ...vm.spec }, wanted) };
    return this.client.patch(virtualMachines, vm.metadata, { type: 'merge', body }, undefined, signal);
  }

  async #capture(
    vm: VirtualMachine,
    resolutions: Resolutions,
    template: ExpandedTemplate,
    signal: AbortSignal,
  ): Promise<Settled> {
    const refs: Partial<Record<Subject, InstancetypeStatusRef>> = {};
    const superseded: string[] = [];
    for (const subject of subjects) {
      const resolution: Resolution<Subject> = resolutions[subject];
      if (resolution.kind !== 'found') continue;
      const copy = await this.#copy(vm, subject, resolution, signal);
      const { revision = copy } = resolution;
      if (revision !== copy) superseded.push(revision.metadata.name);
      const { name, kind, inferFromVolume, inferFromVolumeFailurePolicy } = matcherOf(vm, subject) ?? {};
      refs[subject] = {
        ...(name === undefined ? {} : { name }),
        ...(kind === undefined ? {} : { kind }),
        ...(inferFromVolume === undefined ? {} : { inferFromVolume }),
        ...(inferFromVolumeFailurePolicy === undefined ? {} : { inferFromVolumeFailurePolicy }),
        controllerRevisionRef: { name: copy.metadata.name },
      };
    }
    return {
      kind: 'settled',
      vm: {
        ...vm,
        spec: { ...vm.spec, template: annotated(vm, template) },
        status: withRefs(vm.status, refs),
      },
      superseded,
    };
  }

  /** The copy that the VM is to use from now on: made if there is none, and anew if it is of an old version. */
  async #copy(
    vm: VirtualMachine,
    subject: Subject,
    { revision, object }: Resolution<Subject> & { kind: 'found' },
    signal: AbortSignal,
  ): Promise<ControllerRevision> {
    const chosenByUser = (matcherOf(vm, subject)?.revisionName ?? '') !== '';
    if (revision !== undefined && (chosenByUser || isLatest(revision))) return revision;
    const wanted = revisionOf(vm, object);
    try {
      return await this.client.create(controllerRevisions, wanted, signal);
    } catch (error) {
      const { namespace, name = '' } = wanted.metadata;
      const existing = isAlreadyExists(error) ? await this.referents.revision(namespace, name) : undefined;
      if (existing === undefined) throw error;
      // One of a VM of the same name that is gone will soon go too.
      if (!isControlledBy(existing, vm)) throw error;
      if (isDeepStrictEqual(referentOf(subject, existing)?.spec, object.spec)) return existing;
      throw new Error(`ControllerRevision ${name} does not hold what it is named for`, { cause: error });
    }
  }
}

function hasCopy(vm: VirtualMachine, subject: Subject): boolean {
  return (statusRefOf(vm, subject)?.controllerRevisionRef?.name ?? '') !== '';
}

function withoutReferences(vm: VirtualMachine, removeCopies: boolean): Settled {
  if (subjects.every((subject) => statusRefOf(vm, subject) === undefined))
    return { kind: 'settled', vm, superseded: [] };
  const copies = subjects.map((subject) => statusRefOf(vm, subject)?.controllerRevisionRef?.name ?? '');
  return {
    kind: 'settled',
    vm: { ...vm, status: withRefs(vm.status, {}) },
    superseded: removeCopies ? copies.filter((name) => name !== '') : [],
  };
}

function withRefs(
  status: VirtualMachineStatus | undefined,
  { instancetype, preference }: Partial<Record<Subject, InstancetypeStatusRef>>,
): VirtualMachineStatus {
  const kept = { ...status };
  delete kept.instancetypeRef;
  delete kept.preferenceRef;
  return {
    ...kept,
    ...(instancetype === undefined ? {} : { instancetypeRef: instancetype }),
    ...(preference === undefined ? {} : { preferenceRef: preference }),
  };
}

/** Instances tell what their VM referred to. */
function annotated(vm: VirtualMachine, template: ExpandedTemplate): ExpandedTemplate {
  const annotations: Record<string, string> = { ...template.metadata?.annotations };
  for (const subject of subjects) {
    const { kind, name } = matcherOf(vm, subject) ?? {};
    const annotation = findReferredKind(subject, kind)?.annotation;
    if (annotation !== undefined && name !== undefined) annotations[annotation] = name;
  }
  // Templates have no identity, though their type knows the fields.
  return {
    ...template,
    metadata: { ...template.metadata, annotations } as ExpandedTemplate['metadata'] & object,
  };
}

function choiceOf({ instancetype, preference }: Resolutions): Choice {
  return {
    instancetype: instancetype.kind === 'found' ? instancetype.spec : undefined,
    preference: preference.kind === 'found' ? preference.spec : undefined,
  };
}

function missingFailure({ instancetype, preference }: Resolutions): Failure | undefined {
  if (instancetype.kind === 'missing') return failureOf(reasons.failedFindInstancetype, instancetype);
  return preference.kind === 'missing' ? failureOf(reasons.failedFindPreference, preference) : undefined;
}

function failureOf(reason: string, { field, message }: { field: string; message: string }): Failure {
  return { reason, message: `${field}: ${message}` };
}
