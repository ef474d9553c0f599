/** What the certificates of an installation are called: those who keep them, mount them and trust them agree here. */

/**
 * Keys of every Secret below. Those of leaves have type `kubernetes.io/tls` and hold `authorities` beside the pair, so that
 * one volume is enough.
 */
export const certificateKeys = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  /** PEM of all authorities that count now: the new one, and older ones until they expire. */
  authorities: 'ca.crt',
} as const;

/** Secrets in the namespace of the installation. */
export const certificateSecrets = {
  /** The authority. Nobody mounts it. */
  authority: 'nativirt-ca',
  /** What the API server shows to the cluster's kube-apiserver. */
  apiserver: 'nativirt-apiserver-tls',
  /** What the API server shows to node agents. */
  apiserverClient: 'nativirt-apiserver-client-tls',
  /** What node agents show to the API server: one for all nodes. */
  nodeAgent: 'nativirt-node-agent-tls',
  /** The authority of the etcd that comes with the installation, which reads it only when it starts. */
  etcdAuthority: 'nativirt-etcd-ca',
  /** Of etcd's members, for clients and for each other. */
  etcd: 'nativirt-etcd-tls',
  /** What the API server shows to etcd. */
  etcdClient: 'nativirt-etcd-client-tls',
} as const;

/** ConfigMap with the authorities under `ca.crt`, for those who only have to trust. */
export const authoritiesConfigMap = 'nativirt-ca-bundle';

/** APIServices and webhook configurations with this label, `"true"`, get their `caBundle` from the authorities. */
export const injectAuthoritiesLabel = 'nativirt.io/inject-ca-bundle';

/** Services that the certificates are for. */
export const apiserverService = 'nativirt-apiserver';
/** Headless: its pods are `<pod>.nativirt-etcd.<namespace>.svc`. */
export const etcdService = 'nativirt-etcd';
