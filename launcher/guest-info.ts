import type { GuestInfo } from '../openapi/launcher/protocol.js';
import { asError, type Clock } from './clock.js';
import { GuestAgentError, type GuestAgent } from './guest-agent.js';
import type { Logger } from './log.js';
import { isObject, text } from './qmp/messages.js';

/** Addresses come soon after the boot, then seldom change. */
const pollIntervalsMs = [2000, 5000, 10_000, 30_000];

type Interface = NonNullable<GuestInfo['interfaces']>[number];

/** Asks a connected agent for what the status shows, seldom, and says only what has changed. */
export class GuestInfoPoller {
  private known: GuestInfo = {};
  private polls = 0;
  private cancel: () => void = () => {};
  private active = false;

  constructor(
    private readonly agent: GuestAgent,
    private readonly publish: (guest: GuestInfo) => void,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  start(): void {
    if (this.active) return;
    this.active = true;
    this.polls = 0;
    void this.poll();
  }

  stop(): void {
    this.active = false;
    this.cancel();
  }

  private async poll(): Promise<void> {
    try {
      const found = await this.ask();
      if (!this.active) return;
      if (JSON.stringify(found) !== JSON.stringify(this.known)) {
        this.known = found;
        this.publish(found);
      }
    } catch (error) {
      this.logger.warn('the guest agent could not be asked', { error: asError(error).message });
    }
    if (!this.active) return;
    const wait = pollIntervalsMs[Math.min(this.polls++, pollIntervalsMs.length - 1)] ?? 0;
    this.cancel = this.clock.after(wait, () => void this.poll());
  }

  private async ask(): Promise<GuestInfo> {
    const os = this.polls === 0 ? osInfo(await this.optional('guest-get-osinfo')) : this.known.os;
    // An agent whose file systems are frozen refuses nearly everything: what it has told before is still so.
    const hostname = hostName(await this.optional('guest-get-host-name')) ?? this.known.hostname;
    const interfaces =
      interfacesOf(await this.optional('guest-network-get-interfaces')) ?? this.known.interfaces;
    return {
      ...(os ? { os } : {}),
      ...(hostname === undefined ? {} : { hostname }),
      ...(interfaces ? { interfaces } : {}),
    };
  }

  /** A command that this guest's agent may not have, or not permit. */
  private async optional(command: string): Promise<unknown> {
    try {
      return await this.agent.execute(command);
    } catch (error) {
      if (error instanceof GuestAgentError && error.kind === 'refused') return undefined;
      throw error;
    }
  }
}

function osInfo(answer: unknown): Record<string, string> | undefined {
  if (!isObject(answer)) return undefined;
  const strings = Object.entries(answer).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(strings);
}

function hostName(answer: unknown): string | undefined {
  if (!isObject(answer)) return undefined;
  return typeof answer['host-name'] === 'string' ? answer['host-name'] : undefined;
}

function interfacesOf(answer: unknown): Interface[] | undefined {
  if (!Array.isArray(answer)) return undefined;
  return answer.filter(isObject).map((entry) => {
    const { name, 'hardware-address': mac, 'ip-addresses': addresses } = entry;
    return {
      name: text(name),
      ...(typeof mac === 'string' ? { mac } : {}),
      addresses: Array.isArray(addresses)
        ? addresses.filter(isObject).map((ip) => text(ip['ip-address']))
        : [],
    };
  });
}
