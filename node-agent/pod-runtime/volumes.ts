/** Fills `volumes/<name>` of a pod directory from the pod's volumes. */
import { mkdir, stat, symlink } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { PersistentVolume, Pod, Volume } from '../../openapi/generated/types/core_v1.js';
import type { Client } from '../../controllers/runtime/client.js';
import type { Clock } from '../../controllers/runtime/clock.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { persistentVolumeClaims, persistentVolumes } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { errorCode, isNotExist } from '../files.js';
import type { PodDirectory } from '../pod-directory.js';
import { PodError } from './errors.js';
import type { LauncherUser } from './launcher-user.js';
import { own, ownVolume } from './ownership.js';
import { writePayload } from './payload-writer.js';
import { payloadOf } from './volume-payload.js';

export interface VolumeContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pod: Pod;
  readonly directory: PodDirectory;
  readonly signal: AbortSignal;
  /** Who launchers run as, if not as this process. */
  readonly user?: LauncherUser | undefined;
  /** Called with a sentence while a volume waits for something. */
  readonly waiting: (message: string) => void;
}

/** Resolves with the claim's volume name once it is bound. */
async function boundVolumeName(claim: string, context: VolumeContext): Promise<string> {
  const { client, clock, logger, pod, signal } = context;
  const { namespace = '' } = pod.metadata;
  const key = { namespace, name: claim };
  const first = await client.get(persistentVolumeClaims, key, signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new PodError('FailedMount', `claim "${claim}" does not exist in namespace "${namespace}"`);
  });
  if (first.status?.phase === 'Bound' && first.spec?.volumeName !== undefined) return first.spec.volumeName;
  context.waiting(`claim "${claim}" is not bound to a volume yet`);
  const scope = { namespace, fieldSelector: `metadata.name=${claim}` };
  const informer = new SharedInformer({ client, clock, logger, kind: persistentVolumeClaims, scope });
  const stop = new AbortController();
  const bound = new Promise<string>((resolve) => {
    const look = (): void => {
      const { spec, status } = informer.get(key) ?? {};
      if (status?.phase === 'Bound' && spec?.volumeName !== undefined) resolve(spec.volumeName);
    };
    informer.addHandler({ add: look, update: look });
  });
  const running = informer.run(AbortSignal.any([signal, stop.signal]));
  try {
    return await Promise.race([
      bound,
      running.then(() => {
        signal.throwIfAborted();
        throw new Error(`the watch of claim "${claim}" ended`);
      }),
    ]);
  } finally {
    stop.abort();
    await running;
  }
}

/** The directory or device of a volume on this node. */
function localPath({ metadata, spec }: PersistentVolume): string {
  const path = spec?.hostPath?.path ?? spec?.local?.path;
  if (path !== undefined && isAbsolute(path)) return path;
  throw new PodError(
    'Unsupported',
    `persistent volume "${metadata.name}" is not a local directory (hostPath or local)`,
  );
}

async function linkExisting(path: string, target: string, what: string): Promise<void> {
  try {
    await stat(path);
  } catch (error) {
    if (!isNotExist(error)) throw error;
    throw new PodError('FailedMount', `${what}: ${path} does not exist on this node`);
  }
  await symlink(path, target);
}

async function linkClaim(claim: string, target: string, context: VolumeContext): Promise<void> {
  const name = await boundVolumeName(claim, context);
  const volume = await context.client
    .get(persistentVolumes, { name }, context.signal)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new PodError(
        'FailedMount',
        `claim "${claim}" is bound to persistent volume "${name}", which does not exist`,
      );
    });
  const path = localPath(volume);
  await linkExisting(path, target, `claim "${claim}"`);
  await ownVolume(path, context.user);
}

async function fill(volume: Volume, context: VolumeContext): Promise<void> {
  const { client, pod, signal, user } = context;
  const target = context.directory.volume(volume.name);
  const files = await payloadOf(volume, { client, pod, volume: volume.name, signal });
  const { emptyDir, hostPath, persistentVolumeClaim } = volume;
  if (files !== undefined) {
    await writePayload(target, files, user);
  } else if (emptyDir !== undefined) {
    await mkdir(target, { mode: 0o755 });
    await own(target, user);
  } else if (hostPath !== undefined) {
    if (hostPath.type === 'DirectoryOrCreate') {
      const made = await mkdir(hostPath.path, { recursive: true, mode: 0o755 });
      if (made !== undefined) await own(hostPath.path, user);
    }
    await linkExisting(hostPath.path, target, `volume "${volume.name}"`);
  } else if (persistentVolumeClaim !== undefined) {
    await linkClaim(persistentVolumeClaim.claimName, target, context);
  } else {
    const [kind = 'no source'] = Object.keys(volume).filter((key) => key !== 'name');
    throw new PodError(
      'Unsupported',
      `volume "${volume.name}": volumes of type ${kind} are not supported here`,
    );
  }
}

/** Starts from nothing: call it only before the launcher runs. Rejects with `PodError`, or with a client's error. */
export async function prepareVolumes(context: VolumeContext): Promise<void> {
  const { pod, directory } = context;
  try {
    for (const volume of pod.spec?.volumes ?? []) {
      if (volume.name.includes('/') || volume.name.startsWith('.')) {
        throw new PodError('FailedMount', `"${volume.name}" is not a volume name`);
      }
      await fill(volume, context);
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
    throw new PodError('DiskFull', `no space left on the node's disk under ${directory.path}`, {
      cause: error,
    });
  }
}
