/** Brings the wanted files of an image onto the node, by the pull policy. */
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import { rm } from 'node:fs/promises';
import { findCredentials } from './credentials.js';
import { ImageError, isImageError } from './errors.js';
import { extractFiles, requireSpace, type WantedPath } from './extract.js';
import { openLayout } from './layout.js';
import { resolveManifest, type ImageSource, type Platform } from './manifest.js';
import { defaultPullPolicy, parseReference, type ImageReference, type PullPolicy } from './reference.js';
import { RegistrySource, type RegistryConfiguration } from './registry.js';
import type { RegistryCredentials } from './registry-auth.js';
import type { Backoff } from './retry.js';
import { Semaphore, SharedRuns } from './sharing.js';
import type { ImageStore, StoredFile } from './store.js';

export interface PullerOptions {
  readonly store: ImageStore;
  /** Directories under which `oci:` references may point; none: such references are refused. */
  readonly layoutDirectories: readonly string[];
  /** Registry of references that name none; without it they are refused. */
  readonly defaultRegistry?: string | undefined;
  /** By registry name (host[:port]). */
  readonly registries?: Readonly<Record<string, RegistryConfiguration>>;
  readonly platform?: Platform;
  readonly maximumParallelPulls?: number;
  readonly backoff?: Backoff;
  readonly idleTimeoutMilliseconds?: number;
  readonly now?: () => number;
}

export interface PullRequest {
  readonly image: string;
  /** Absent: Kubernetes' default for the reference. */
  readonly policy?: PullPolicy | undefined;
  readonly wanted: readonly WantedPath[];
  readonly pullSecrets?: readonly Secret[];
}

export interface PulledImage {
  /** Of the manifest for this platform. */
  readonly digest: string;
  readonly files: ReadonlyMap<WantedPath, StoredFile>;
  /** False if the files were here already. */
  readonly downloaded: boolean;
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function hostPlatform(): Platform {
  return { os: 'linux', architecture: architectures[process.arch] ?? process.arch };
}

export class ImagePuller {
  private readonly runs = new SharedRuns<PulledImage>();
  private readonly slots: Semaphore;
  private readonly platform: Platform;

  constructor(private readonly options: PullerOptions) {
    this.slots = new Semaphore(options.maximumParallelPulls ?? 4);
    this.platform = options.platform ?? hostPlatform();
  }

  private parse(image: string): ImageReference {
    return parseReference(image, this.options.defaultRegistry);
  }

  /** True if `pull` will answer without asking anybody. */
  async isPresent({ image, policy, wanted }: PullRequest): Promise<boolean> {
    const reference = this.parse(image);
    if ((policy ?? defaultPullPolicy(reference)) === 'Always' && reference.kind === 'registry') return false;
    return (await this.findLocal(reference, wanted)) !== undefined;
  }

  /** Rejects with `ImageError`, or with the signal's reason. Concurrent pulls of one image are one download. */
  async pull(request: PullRequest, signal: AbortSignal): Promise<PulledImage> {
    const reference = this.parse(request.image);
    const policy = request.policy ?? defaultPullPolicy(reference);
    if (policy !== 'Always') {
      const local = await this.findLocal(reference, request.wanted);
      if (local !== undefined) return local;
      if (policy === 'Never') {
        throw new ImageError(
          'NotPresent',
          `image "${reference.text}" is not on this node, and imagePullPolicy is Never`,
        );
      }
    }
    const credentials =
      reference.kind === 'registry' ? findCredentials(request.pullSecrets ?? [], reference) : undefined;
    const key = JSON.stringify([reference.text, request.wanted, credentials]);
    return this.runs.run(key, signal, (shared) =>
      this.slots.use(shared, () => this.download(reference, request.wanted, credentials, shared)),
    );
  }

  private async findLocal(
    reference: ImageReference,
    wanted: readonly WantedPath[],
  ): Promise<PulledImage | undefined> {
    const digest = this.options.store.resolve(reference.text);
    const files = digest === undefined ? undefined : await this.options.store.find(digest, wanted);
    return digest === undefined || files === undefined ? undefined : { digest, files, downloaded: false };
  }

  private async open(
    reference: ImageReference,
    credentials: RegistryCredentials | undefined,
  ): Promise<ImageSource> {
    if (reference.kind === 'layout') return openLayout(reference, this.options.layoutDirectories);
    const { registries, backoff, idleTimeoutMilliseconds, now } = this.options;
    return new RegistrySource(reference, {
      configuration: registries?.[reference.registry],
      credentials,
      ...(backoff === undefined ? {} : { backoff }),
      ...(idleTimeoutMilliseconds === undefined ? {} : { idleTimeoutMilliseconds }),
      now: now ?? Date.now,
    });
  }

  private async download(
    reference: ImageReference,
    wanted: readonly WantedPath[],
    credentials: RegistryCredentials | undefined,
    signal: AbortSignal,
  ): Promise<PulledImage> {
    const { store } = this.options;
    const source = await this.open(reference, credentials);
    const top = await source.resolve(signal);
    const manifest = await resolveManifest(source, top, this.platform, signal);
    const present = await store.find(manifest.digest, wanted);
    if (present !== undefined) {
      await store.setReference(reference.text, manifest.digest);
      return { digest: manifest.digest, files: present, downloaded: false };
    }
    const extract = async (): Promise<void> => {
      const directory = await store.temporaryDirectory();
      try {
        const size = manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
        await requireSpace(directory, size, source.name);
        await store.add(manifest.digest, await extractFiles(source, manifest, wanted, directory, signal));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    };
    try {
      await extract();
    } catch (error) {
      // Unused images are worth less than this one.
      if (!isImageError(error, 'DiskFull') || (await store.collectGarbage()).freedBytes === 0) throw error;
      await extract();
    }
    await store.setReference(reference.text, manifest.digest);
    const files = await store.find(manifest.digest, wanted);
    if (files === undefined) throw new Error(`files of ${manifest.digest} vanished from the image store`);
    return { digest: manifest.digest, files, downloaded: true };
  }
}
