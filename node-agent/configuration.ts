/** What the KubeVirt object's configuration says of nodes, over the defaults. */
import type { KubeVirtConfiguration } from '../openapi/generated/types/kubevirt_v1.js';

/** Of the models that nodes are labelled with, those that KubeVirt takes for obsolete unless it is told which are. */
const obsoleteByDefault = { Conroe: true, Opteron_G2: true };

/** What is configured takes the place of the default: a model that is not named may be had again. */
export function obsoleteCpuModels({
  obsoleteCPUModels = obsoleteByDefault,
}: KubeVirtConfiguration): ReadonlySet<string> {
  const obsolete = Object.entries(obsoleteCPUModels).filter(([, is]) => is);
  return new Set(obsolete.map(([model]) => model));
}

const defaultShares = 1000;
/** A list of devices is one message: a kubelet takes 16 MiB. */
const mostShares = 10_000;

/** As many containers as this may share a device of the kernel. */
export function deviceShares({
  virtualMachineInstancesPerNode: machines = defaultShares,
}: KubeVirtConfiguration): number {
  return Math.min(Math.max(machines, 0), mostShares);
}
