/** What a VM's `spec.instancetype` and `spec.preference` can refer to. */
import type {
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from '../generated/types/kubevirt_instancetype_v1beta1.js';
import type { KubernetesObject } from '../meta.js';

export const instancetypeGroup = 'instancetype.kubevirt.io';
/** The version that stored copies are brought to. */
export const latestVersion = 'v1beta1';

export interface SpecOf {
  readonly instancetype: VirtualMachineInstancetypeSpec;
  readonly preference: VirtualMachinePreferenceSpec;
}
/** Which of the two references of a VM. */
export type Subject = keyof SpecOf;

/** An instancetype or preference of either scope. */
export interface Referent<S extends Subject> extends KubernetesObject {
  spec: SpecOf[S];
}

export interface ReferredKind {
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** On instances: the name of what the VM referred to. */
  readonly annotation: string;
}

export type Scope = 'Cluster' | 'Namespaced';

export function referredKind(subject: Subject, scope: Scope): ReferredKind {
  const name = subject === 'instancetype' ? 'Instancetype' : 'Preference';
  const kind = `VirtualMachine${scope === 'Cluster' ? 'Cluster' : ''}${name}`;
  return {
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: scope === 'Namespaced',
    annotation: `kubevirt.io/${scope === 'Cluster' ? 'cluster-' : ''}${subject}-name`,
  };
}

/** Both kinds that a reference may name, the default first. */
export function referredKinds(subject: Subject): readonly ReferredKind[] {
  return [referredKind(subject, 'Cluster'), referredKind(subject, 'Namespaced')];
}

/**
 * The kind that a reference means: singular or plural, in any case; the cluster-wide one if it says nothing.
 * Undefined if there is no such kind.
 */
export function findReferredKind(subject: Subject, kind: string | undefined): ReferredKind | undefined {
  const word = kind?.toLowerCase() ?? '';
  if (word === '') return referredKind(subject, 'Cluster');
  return referredKinds(subject).find((each) => each.resource === word || each.kind.toLowerCase() === word);
}
