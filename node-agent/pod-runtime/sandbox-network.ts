/** The network of one pod, as its worker sees it. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { enter } from '../network/commands.js';
import { NetworkError, type PodAttachment, type PodNetwork } from '../network/interface.js';
import { PodError } from './errors.js';
import type { LauncherCommand } from './launcher-process.js';

export class SandboxNetwork {
  private attachment: PodAttachment | undefined;

  /** @param network undefined: launchers share the node's */
  constructor(
    private readonly pod: Pod,
    private readonly network: Pick<PodNetwork, 'attach' | 'detach'> | undefined,
    private readonly logger: Logger,
  ) {}

  /** Of the pod, IPv4 first; undefined where it shares the node's network. */
  get addresses(): readonly string[] | undefined {
    return this.attachment?.addresses;
  }

  /** Rejects with `PodError`. */
  async attach(signal: AbortSignal): Promise<void> {
    try {
      this.attachment = await this.network?.attach(this.pod, signal);
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error;
      throw new PodError('FailedCreatePodSandBox', error.message, { cause: error });
    }
  }

  async detach(): Promise<void> {
    await this.network?.detach(this.pod.metadata.uid);
    this.attachment = undefined;
  }

  /** Nothing of the pod runs any more. What can not be given back now is when the pod is removed. */
  async leave(): Promise<void> {
    try {
      await this.detach();
    } catch (error) {
      const { name, namespace } = this.pod.metadata;
      this.logger.warn({ err: error, pod: name, namespace }, 'cannot remove the network of a pod');
    }
  }

  /** Starts the launcher in there. */
  entered(launcher: LauncherCommand): LauncherCommand {
    if (this.attachment === undefined) return launcher;
    return { ...launcher, command: [...enter(this.attachment.namespace), ...launcher.command] };
  }
}
