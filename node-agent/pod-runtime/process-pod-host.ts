/** Runs launcher pods as processes of this machine, where no kubelet does. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../controllers/runtime/clock.js';
import { pods } from '../../controllers/runtime/kinds.js';
import { collectImages } from '../images/garbage-collection.js';
import { ImagePuller, type PullerOptions } from '../images/puller.js';
import { ImageStore } from '../images/store.js';
import { PodDirectories } from '../pod-directory.js';
import { GuestNetworks } from '../network/guest-networks.js';
import type { PodNetwork } from '../network/interface.js';
import type { PodHost, PodHostContext } from '../pod-host.js';
import { guestProbes } from '../pod-readiness.js';
import type { LauncherCommand } from './launcher-process.js';
import { chooseLauncherUser, startedAs, type LauncherUserChoice } from './launcher-user.js';
import { PodRuntime } from './pod-runtime.js';

export interface ProcessPodsOptions {
  /** This agent's own: pods and images are kept here. */
  readonly dataDirectory: string;
  readonly launcher: LauncherCommand;
  /** Undefined: launchers share the node's network, and guests have QEMU's user-mode one. */
  readonly network?: PodNetwork | undefined;
  readonly images: Pick<PullerOptions, 'layoutDirectories' | 'defaultRegistry' | 'registries'>;
}

/** Prepares the data directory. Rejects if that cannot be used. */
export async function openProcessPods(
  options: ProcessPodsOptions,
  clock: Clock,
): Promise<(context: PodHostContext) => PodHost> {
  const { dataDirectory } = options;
  await mkdir(dataDirectory, { recursive: true, mode: 0o711 });
  const directories = new PodDirectories(join(dataDirectory, 'pods'));
  await directories.create();
  const choice = await chooseLauncherUser(directories.root, options.launcher);
  const store = await ImageStore.open(join(dataDirectory, 'images'), () => clock.now());
  return (context) => processPodHost(options, { store, directories, choice }, context);
}

interface Prepared {
  readonly store: ImageStore;
  readonly directories: PodDirectories;
  readonly choice: LauncherUserChoice;
}

function processPodHost(
  { dataDirectory, launcher, images, network }: ProcessPodsOptions,
  { store, directories, choice }: Prepared,
  context: PodHostContext,
): PodHost {
  const { clock, logger, informers, nodeName } = context;
  const informer = informers.get(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
  const user = choice.kind === 'unprivileged' ? choice.user : undefined;
  if (choice.kind === 'own' && choice.why !== undefined)
    logger.warn({ why: choice.why }, 'launchers run as root');
  const runtimeUser = user?.uid ?? process.getuid?.() ?? 0;
  const puller = new ImagePuller({ store, now: () => clock.now(), ...images });
  const guests = new GuestNetworks(join(dataDirectory, 'networks'));
  const runtime = new PodRuntime({
    ...context,
    puller,
    launcher: user === undefined ? launcher : startedAs(user, launcher),
    user,
    informer,
    directories,
    network: network && withGuests(network, guests),
  });
  return {
    directories,
    informers: [informer],
    runtimeUser,
    storage: dataDirectory,
    probes: guestProbes(informer),
    counts() {
      const stored = store.list();
      return {
        pods: runtime.size,
        images: stored.length,
        imageBytes: stored.reduce((sum, { size }) => sum + size, 0),
      };
    },
    async prepare(vmi, uid, signal) {
      if (network === undefined) return {};
      const pod = informer.list().find(({ metadata }) => metadata.uid === uid);
      const namespace = await network.namespaceOf(uid, signal);
      if (pod === undefined || namespace === undefined) return undefined;
      return { network: await guests.setUp({ vmi, pod, namespace, user: runtimeUser }, signal) };
    },
    shutDown: (milliseconds) => runtime.shutDown(milliseconds),
    async run(signal) {
      await Promise.all([
        runtime.run(signal),
        collectImages({ store, directory: dataDirectory, clock, logger }, signal),
      ]);
    },
  };
}

/** A pod's network ends with what serves its guest there. */
function withGuests(network: PodNetwork, guests: GuestNetworks): Pick<PodNetwork, 'attach' | 'detach'> {
  return {
    attach: (pod, signal) => network.attach(pod, signal),
    async detach(podUid) {
      await guests.tearDown(podUid);
      await network.detach(podUid);
    },
  };
}
