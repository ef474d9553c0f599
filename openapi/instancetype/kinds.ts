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

const kinds: Readonly<
  Record<Subject, { readonly namespaced: ReferredKind; readonly cluster: ReferredKind }>
> = {
  instancetype: {
    namespaced: referredKind('VirtualMachineInstancetype', true, 'instancetype-name'),
    cluster: referredKind('VirtualMachineClusterInstancetype', false, 'cluster-instancetype-name'),
  },
  preference: {
    namespaced: referredKind('VirtualMachinePreference', true, 'preference-name'),
    cluster: referredKind('VirtualMachineClusterPreference', false, 'cluster-preference-name'),
  },
};

function referredKind(kind: string, namespaced: boolean, annotation: string): ReferredKind {
  return { kind, resource: `${kind.toLowerCase()}s`, namespaced, annotation: `kubevirt.io/${annotation}` };
}

/** Both kinds that a reference may name, the default first. */
export function referredKinds(subject: Subject): readonly ReferredKind[] {
  return [kinds[subject].cluster, kinds[subject].namespaced];
}

/**
 * The kind that a reference means: singular or plural, in any case; the cluster-wide one if it says nothing.
 * Undefined if there is no such kind.
 */
export function findReferredKind(subject: Subject, kind: string | undefined): ReferredKind | undefined {
  const { cluster } = kinds[subject];
  const word = kind?.toLowerCase() ?? '';
  if (word === '') return cluster;
  return referredKinds(subject).find((each) => each.resource === word || each.kind.toLowerCase() === word);
}
