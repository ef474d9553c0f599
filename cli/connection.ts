/** Which API server, and who we are there: kubectl's flags and environment. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  inClusterConnection,
  loadKubeconfig,
  type ConnectionOptions,
} from '../controllers/runtime/kubeconfig.js';

export interface ConnectionFlags {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
}

export async function connect(
  { kubeconfig, context }: ConnectionFlags,
  environment: NodeJS.ProcessEnv,
): Promise<ConnectionOptions> {
  const named = kubeconfig ?? environment['KUBECONFIG']?.split(':').find((path) => path !== '');
  if (named === undefined && context === undefined && environment['KUBERNETES_SERVICE_HOST'] !== undefined) {
    return inClusterConnection(environment);
  }
  return loadKubeconfig(named ?? join(homedir(), '.kube', 'config'), context);
}
