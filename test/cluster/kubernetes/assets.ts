/** Where a real control plane comes from: the folder that setup-envtest makes. */
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Programs of one release of Kubernetes, and of etcd. */
export interface Assets {
  readonly kubeApiserver: string;
  readonly etcd: string;
  readonly kubectl: string;
  /** Without it nothing empties a namespace, collects garbage or aggregates roles. */
  readonly kubeControllerManager: string | undefined;
}

const ownKubectl = path.resolve(import.meta.dirname, '../../../build/tools/kubectl');

/** A text says why there are none. */
export function findAssets(folder = process.env.KUBEBUILDER_ASSETS): Assets | string {
  if (folder === undefined || folder === '')
    return 'KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd, as setup-envtest makes one';
  const find = (name: string): string | undefined => {
    const file = path.join(folder, name);
    return existsSync(file) ? file : undefined;
  };
  const [kubeApiserver, etcd, kubectl = ownKubectl] = ['kube-apiserver', 'etcd', 'kubectl'].map(find);
  if (kubeApiserver === undefined || etcd === undefined)
    return `KUBEBUILDER_ASSETS: ${folder} has no ${kubeApiserver === undefined ? 'kube-apiserver' : 'etcd'}`;
  if (!existsSync(kubectl)) return `${kubectl} is missing: node deploy/setup/kubectl.mjs makes it`;
  return { kubeApiserver, etcd, kubectl, kubeControllerManager: find('kube-controller-manager') };
}
