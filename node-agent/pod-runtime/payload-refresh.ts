/** Keeps the files of secrets, config maps and the pod's own fields current while the pod runs. */
import type { Pod, Volume } from '../../openapi/generated/types/core_v1.js';
import type { Client } from '../../controllers/runtime/client.js';
import type { Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import type { PodDirectory } from '../pod-directory.js';
import { Wakeup } from '../wakeup.js';
import type { LauncherUser } from './launcher-user.js';
import { writePayload } from './payload-writer.js';
import { payloadOf } from './volume-payload.js';

export interface PayloadRefreshOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly user?: LauncherUser | undefined;
}

/** A kubelet looks at its pods as often. Milliseconds. */
const period = 60_000;

/** Fields that the downward API tells and that change. */
const ownFields = ({ metadata: { labels, annotations }, status }: Pod): string =>
  JSON.stringify([labels, annotations, status?.podIP, status?.hostIP]);

export class PayloadRefresh {
  private readonly change = new Wakeup();
  /** What went wrong last, of each volume. */
  private readonly failures = new Map<string, string>();

  constructor(
    private pod: Pod,
    private readonly directory: PodDirectory,
    private readonly options: PayloadRefreshOptions,
  ) {}

  update(pod: Pod): void {
    const changed = ownFields(pod) !== ownFields(this.pod);
    this.pod = pod;
    if (changed) this.change.notice();
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const volumes = (this.pod.spec?.volumes ?? []).filter(hasPayload);
    if (volumes.length === 0) return;
    const notice = (): void => this.change.notice();
    signal.addEventListener('abort', notice, { once: true });
    try {
      for (;;) {
        const { clock, random } = this.options;
        // Pods that were started together do not ask together.
        const cancel = clock.timer(period * (0.75 + random() / 2), notice);
        await this.change.wait();
        cancel();
        if (signal.aborted) return;
        for (const volume of volumes) await this.refresh(volume, signal);
      }
    } finally {
      signal.removeEventListener('abort', notice);
    }
  }

  private async refresh(volume: Volume, signal: AbortSignal): Promise<void> {
    const { client, logger } = this.options;
    const { pod } = this;
    const { name, namespace } = pod.metadata;
    try {
      const files = await payloadOf(volume, { client, pod, volume: volume.name, signal });
      if (files === undefined) return;
      if (await writePayload(this.directory.volume(volume.name), files, this.options.user))
        logger.info({ pod: name, namespace, volume: volume.name }, 'the files of a volume have changed');
      this.failures.delete(volume.name);
    } catch (error) {
      if (signal.aborted) return;
      // What was there before stays: a guest must not lose its files with their source.
      const message = error instanceof Error ? error.message : String(error);
      if (this.failures.get(volume.name) === message) return;
      this.failures.set(volume.name, message);
      logger.warn({ err: error, pod: name, namespace }, 'the files of a volume can not be made anew');
    }
  }
}

const hasPayload = ({ secret, configMap, downwardAPI, projected }: Volume): boolean =>
  [secret, configMap, downwardAPI, projected].some((source) => source !== undefined);
