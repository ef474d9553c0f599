import type { UserInfo } from '../../apiserver/request.js';

/** The parts of KubeVirt in the vectors: service accounts in its namespace. */
export const isKubeVirtUser = ({ name }: UserInfo): boolean =>
  name.startsWith('system:serviceaccount:kubevirt:');
