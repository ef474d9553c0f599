/** The side of a node agent beside a kubelet: it finds launchers in the kubelet's directory, and does for them what needs privileges. */
import { launcherLabel, launcherLabelValue, launcherUser } from '../../openapi/launcher/pod.js';
import { pods } from '../../controllers/runtime/kinds.js';
import type { GuestNetworks } from '../network/interface.js';
import type { PodHost, PodHostContext } from '../pod-host.js';
import { aborted } from '../signals.js';
import { containerProcess } from './container-process.js';
import { ownDevices } from './device-ownership.js';
import { computeStatus, KubeletPods } from './kubelet-pods.js';

export interface KubeletPodsOptions {
  /** The kubelet's root directory: `/var/lib/kubelet`. */
  readonly directory: string;
  /** Absent: guests have QEMU's user-mode network. */
  readonly networks?: GuestNetworks;
}

export function kubeletPodHost(
  { directory, networks }: KubeletPodsOptions,
  context: PodHostContext,
): PodHost {
  const { informers, nodeName, logger } = context;
  const informer = informers.get(pods, {
    fieldSelector: `spec.nodeName=${nodeName}`,
    labelSelector: `${launcherLabel}=${launcherLabelValue}`,
  });
  const directories = new KubeletPods(directory, informer);
  return {
    directories,
    informers: [informer],
    runtimeUser: launcherUser,
    storage: directory,
    counts: () => ({ pods: directories.size, images: 0, imageBytes: 0 }),
    async prepare(vmi, uid, signal) {
      const pod = directories.pod(uid);
      const containerID = pod && computeStatus(pod)?.containerID;
      if (pod === undefined || containerID === undefined) return undefined;
      const pid = await containerProcess(containerID);
      if (pid === undefined)
        throw new Error(`no process of container ${containerID} is to be seen on this node`);
      await ownDevices(`/proc/${pid}/root`);
      if (networks === undefined || pod.spec?.hostNetwork === true) return {};
      const namespace = `/proc/${pid}/ns/net`;
      return { network: await networks.setUp({ vmi, pod, namespace, user: launcherUser }, signal) };
    },
    async run(signal) {
      const remove = informer.addHandler({
        delete: ({ metadata: { uid, name, namespace } }) => {
          networks?.tearDown(uid).catch((error: unknown) => {
            logger.warn(
              { err: error, pod: name, namespace },
              'cannot take down the network of a pod that is gone',
            );
          });
        },
      });
      await aborted(signal);
      remove();
    },
  };
}
