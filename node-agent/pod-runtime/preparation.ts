/** Brings a pod's volumes and images into its directory, and tells what it waits for meanwhile. */
import type { Pod, Secret } from '../../openapi/generated/types/core_v1.js';
import { Backoff } from '../../controllers/runtime/backoff.js';
import type { Client } from '../../controllers/runtime/client.js';
import { sleep, type Clock } from '../../controllers/runtime/clock.js';
import { ClientError } from '../../controllers/runtime/errors.js';
import type { EventRecorder } from '../../controllers/runtime/event-recorder.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { computeContainer } from '../../openapi/launcher/pod.js';
import { errorCode } from '../files.js';
import { ImageError } from '../images/errors.js';
import type { ImagePuller, PulledImage, PullRequest } from '../images/puller.js';
import type { PodDirectory } from '../pod-directory.js';
import { linkSignals, type LinkedSignal } from '../signals.js';
import {
  containerImages,
  hasImages,
  ownerOf,
  placeFiles,
  pullSecrets,
  type ContainerImage,
} from './container-images.js';
import { PodError } from './errors.js';
import type { LauncherUser } from './launcher-user.js';
import type { Waiting } from './pod-status.js';
import { prepareVolumes } from './volumes.js';

export interface PreparationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly random: () => number;
  readonly puller: ImagePuller;
  /** Who launchers run as, if not as this process. */
  readonly user?: LauncherUser | undefined;
}

/** What the kubelet waits between pulls of an image: 10 s, doubling, at most 5 minutes. */
const pullBackoff = { minimum: 10_000, maximum: 5 * 60 * 1000 };
const mountBackoff = { minimum: 500, maximum: 60_000 };

export class Preparation {
  /** Digests by container, once pulled. */
  readonly images = new Map<string, string>();
  private readonly waiting = new Map<string, Waiting>();
  /** One part's failure stops the others. */
  private readonly failed = new AbortController();
  private readonly link: LinkedSignal;
  private planned: Promise<{ images: ContainerImage[]; secrets: Secret[] }> | undefined;

  constructor(
    private readonly pod: Pod,
    private readonly directory: PodDirectory,
    private readonly options: PreparationOptions,
    private readonly report: (waiting: ReadonlyMap<string, Waiting>) => void,
    signal: AbortSignal,
  ) {
    this.link = linkSignals(signal, this.failed.signal);
  }

  private get signal(): AbortSignal {
    return this.link.signal;
  }

  /** All that is needed is on this node: nothing will be waited for. Rejects with `PodError` for pods it cannot run. */
  async isImmediate(): Promise<boolean> {
    const { images } = await this.plan();
    const present = await Promise.all(
      images.map((image) => this.options.puller.isPresent(this.request(image, [])).catch(() => false)),
    );
    return present.every((each) => each);
  }

  /** Rejects with `PodError` for what waiting will not mend, or with the signal's reason. */
  async run(): Promise<void> {
    const { images, secrets } = await this.plan();
    const parts = [this.mount(), ...images.map((image) => this.pull(image, secrets))];
    try {
      await Promise.all(parts);
    } catch (error) {
      this.failed.abort();
      await Promise.allSettled(parts);
      throw error;
    } finally {
      this.link.dispose();
    }
  }

  private plan(): Promise<{ images: ContainerImage[]; secrets: Secret[] }> {
    this.planned ??= this.makePlan();
    return this.planned;
  }

  private async makePlan(): Promise<{ images: ContainerImage[]; secrets: Secret[] }> {
    const { client } = this.options;
    return this.retryingClient(async () => {
      const [vmi, secrets] = await Promise.all([
        hasImages(this.pod) ? ownerOf(this.pod, client, this.signal) : undefined,
        pullSecrets(this.pod, client, this.signal),
      ]);
      return { images: containerImages(this.pod, vmi, this.directory), secrets };
    });
  }

  private async retryingClient<T>(work: () => Promise<T>): Promise<T> {
    const { clock, random, logger } = this.options;
    const backoff = new Backoff({ ...mountBackoff, random });
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.signal.throwIfAborted();
        if (!(error instanceof ClientError)) throw error;
        logger.warn(
          { err: error, pod: this.pod.metadata.name },
          'cannot read what a pod needs; trying again',
        );
      }
      await sleep(clock, backoff.next(), this.signal);
    }
  }

  private wait(container: string, waiting: Waiting | undefined): void {
    if (waiting === undefined) this.waiting.delete(container);
    else this.waiting.set(container, waiting);
    this.report(new Map(this.waiting));
  }

  private async mount(): Promise<void> {
    const { client, clock, logger, random, recorder, user } = this.options;
    const backoff = new Backoff({ ...mountBackoff, random });
    let told: string | undefined;
    const tell = (message: string): void => {
      if (message === told) return;
      told = message;
      this.wait(computeContainer, { reason: 'ContainerCreating', message });
    };
    for (;;) {
      try {
        const { pod, directory, signal } = this;
        await prepareVolumes({ client, clock, logger, pod, directory, signal, user, waiting: tell });
        if (told !== undefined) this.wait(computeContainer, undefined);
        return;
      } catch (error) {
        this.signal.throwIfAborted();
        if (error instanceof PodError && error.reason === 'Unsupported') throw error;
        if (!(error instanceof PodError) && !(error instanceof ClientError)) throw error;
        if (error instanceof PodError && error.message !== told) {
          recorder.event(this.pod, 'Warning', error.reason, error.message);
        }
        tell(error.message);
      }
      await sleep(clock, backoff.next(), this.signal);
      await this.directory.removeVolumeEntries((this.pod.spec?.volumes ?? []).map(({ name }) => name));
    }
  }

  private request({ image, policy, files }: ContainerImage, secrets: readonly Secret[]): PullRequest {
    return { image, policy, wanted: [...files.keys()], pullSecrets: secrets };
  }

  private async pull(image: ContainerImage, secrets: readonly Secret[]): Promise<void> {
    const { clock, random } = this.options;
    const backoff = new Backoff({ ...pullBackoff, random });
    for (let attempt = 1; ; attempt++) {
      try {
        const pulled = await this.pullOnce(this.request(image, secrets));
        await placeFiles(image, pulled);
        this.images.set(image.container, pulled.digest);
        if (attempt > 1) this.wait(image.container, undefined);
        return;
      } catch (error) {
        this.signal.throwIfAborted();
        this.refused(image, attempt, this.imageFault(image, error));
      }
      await sleep(clock, backoff.next(), this.signal);
    }
  }

  private imageFault(image: ContainerImage, error: unknown): ImageError {
    if (error instanceof ImageError) return error;
    if (errorCode(error) !== 'ENOSPC') throw error;
    const message = `image "${image.image}": no space left on the node's disk under ${this.directory.path}`;
    return new ImageError('DiskFull', message, { cause: error });
  }

  private async pullOnce(request: PullRequest): Promise<PulledImage> {
    const { puller, recorder } = this.options;
    if (await puller.isPresent(request)) return puller.pull(request, this.signal);
    recorder.event(this.pod, 'Normal', 'Pulling', `Pulling image "${request.image}"`);
    const pulled = await puller.pull(request, this.signal);
    const how = pulled.downloaded ? 'Pulled image' : 'Already on this node and current: image';
    recorder.event(this.pod, 'Normal', 'Pulled', `${how} "${request.image}"`);
    return pulled;
  }

  private refused({ container, image }: ContainerImage, attempt: number, error: ImageError): void {
    const { recorder } = this.options;
    const { reason, message } = error;
    recorder.event(this.pod, 'Warning', 'Failed', `Failed to pull: ${message}`);
    if (attempt === 1 || reason !== 'ErrImagePull') this.wait(container, { reason, message });
    else {
      this.wait(container, {
        reason: 'ImagePullBackOff',
        message: `waiting before the next pull of "${image}": ${message}`,
      });
    }
  }
}
