/** Runs launcher pods as processes of this machine, where no kubelet does. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../controllers/runtime/clock.js';
import { pods } from '../../controllers/runtime/kinds.js';
import { collectImages } from '../images/garbage-collection.js';
import { ImagePuller, type PullerOptions } from '../images/puller.js';
import { ImageStore } from '../images/store.js';
import { PodDirectories } from '../pod-directory.js';
import type { PodHost, PodHostContext } from '../pod-host.js';
import type { LauncherCommand } from './launcher-process.js';
import { PodRuntime } from './pod-runtime.js';

export interface ProcessPodsOptions {
  /** This agent's own: pods and images are kept here. */
  readonly dataDirectory: string;
  readonly launcher: LauncherCommand;
  readonly images: Pick<PullerOptions, 'layoutDirectories' | 'defaultRegistry' | 'registries'>;
}

/** Prepares the data directory. Rejects if that cannot be used. */
export async function openProcessPods(
  options: ProcessPodsOptions,
  clock: Clock,
): Promise<(context: PodHostContext) => PodHost> {
  const { dataDirectory } = options;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const store = await ImageStore.open(join(dataDirectory, 'images'), () => clock.now());
  return (context) => processPodHost(options, store, context);
}

function processPodHost(
  { dataDirectory, launcher, images }: ProcessPodsOptions,
  store: ImageStore,
  context: PodHostContext,
): PodHost {
  const { clock, logger, informers, nodeName } = context;
  const informer = informers.get(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
  const directories = new PodDirectories(join(dataDirectory, 'pods'));
  const puller = new ImagePuller({ store, now: () => clock.now(), ...images });
  const runtime = new PodRuntime({ ...context, puller, launcher, informer, directories });
  return {
    directories,
    informers: [informer],
    runtimeUser: process.getuid?.() ?? 0,
    storage: dataDirectory,
    counts() {
      const stored = store.list();
      return {
        pods: runtime.size,
        images: stored.length,
        imageBytes: stored.reduce((sum, { size }) => sum + size, 0),
      };
    },
    prepare: () => Promise.resolve({}),
    async run(signal) {
      await Promise.all([
        runtime.run(signal),
        collectImages({ store, directory: dataDirectory, clock, logger }, signal),
      ]);
    },
  };
}
