/** The side of a node agent beside a kubelet: it finds launchers in the kubelet's directory, and does for them what needs privileges. */
import { launcherLabel, launcherLabelValue, launcherUser } from '../../openapi/launcher/pod.js';
import { join } from 'node:path';
import { pods } from '../../controllers/runtime/kinds.js';
import type { GuestNetworks } from '../network/interface.js';
import type { PodHost, PodHostContext } from '../pod-host.js';
import { computeStatus, guestProbes } from '../pod-readiness.js';
import { containerProcess } from './container-process.js';
import { ownDevices } from './device-ownership.js';
import { DevicePlugins } from './device-plugin/device-plugins.js';
import { KubeletPods } from './kubelet-pods.js';

export interface KubeletPodsOptions {
  /** The kubelet's root directory: `/var/lib/kubelet`. */
  readonly directory: string;
  /** Absent: guests have QEMU's user-mode network. */
  readonly networks?: GuestNetworks;
  /** The node's processes; /proc but for tests. */
  readonly proc?: string;
}

export function kubeletPodHost(
  { directory, networks, proc = '/proc' }: KubeletPodsOptions,
  context: PodHostContext,
): PodHost {
  const { clock, informers, kubeVirtInformer, logger, nodeName, random } = context;
  const informer = informers.get(pods, {
    fieldSelector: `spec.nodeName=${nodeName}`,
    labelSelector: `${launcherLabel}=${launcherLabelValue}`,
  });
  const directories = new KubeletPods(directory, informer);
  const plugins = new DevicePlugins(kubeVirtInformer, {
    directory: join(directory, 'device-plugins'),
    clock,
    logger,
    random,
  });
  return {
    directories,
    informers: [informer],
    runtimeUser: launcherUser,
    storage: directory,
    probes: guestProbes(informer),
    counts: () => ({ pods: directories.size, images: 0, imageBytes: 0 }),
    async prepare(vmi, uid, signal) {
      const pod = directories.pod(uid);
      const containerID = pod && computeStatus(pod)?.containerID;
      if (pod === undefined || containerID === undefined) return undefined;
      const pid = await containerProcess(containerID, proc);
      if (pid === undefined)
        throw new Error(`no process of container ${containerID} is to be seen on this node`);
      await ownDevices(`${proc}/${pid}/root`);
      if (networks === undefined || pod.spec?.hostNetwork === true) return {};
      const namespace = `${proc}/${pid}/ns/net`;
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
      try {
        await informer.synced(signal);
        await networks?.retain(new Set(informer.list().map(({ metadata }) => metadata.uid)));
        await plugins.run(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        remove();
      }
    },
  };
}
