/** Where KubeVirt's subresources are found. */
import type { ServedUnder } from './interface.js';

export const kubevirtGroup = 'kubevirt.io';
/** The group that `virtctl` and other clients of KubeVirt use: an alias of the same handlers. */
export const subresourcesGroup = 'subresources.kubevirt.io';

export const versions: readonly string[] = ['v1', 'v1alpha3'];

export const servedEverywhere: readonly ServedUnder[] = [
  { group: kubevirtGroup, versions },
  { group: subresourcesGroup, versions },
];
