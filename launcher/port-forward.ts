import { randomInt } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Qemu } from './qemu/process.js';
import { relayDatagrams } from './datagrams.js';

export type Protocol = 'tcp' | 'udp';

/** Where QEMU listens on the loopback interface for one port of the guest. */
interface Rule {
  readonly protocol: Protocol;
  readonly host: string;
  readonly hostPort: number;
}

interface SharedRule {
  readonly rule: Promise<Rule>;
  users: number;
}

/** The ways to the ports of a guest. */
export interface GuestPorts {
  /** @throws PortForwardError, QmpError */
  connectStream(port: number): Promise<Socket>;
  /**
   * Relays framed datagrams of `client` to and from a port of the guest until the client closes.
   * @throws PortForwardError, QmpError; nothing has been read from the client then
   */
  connectDatagrams(port: number): Promise<(client: Socket, received: Buffer) => void>;
}

const attempts = 5;

/** The state of QEMU's own listener in its list of connections. */
const listening = 'HOST_FORWARD';
/** How long a guest may take to answer, and how often it is asked whether it has. Milliseconds. */
const longestSilence = 10_000;
const firstPause = 2;
const longestPause = 200;

export class PortForwardError extends Error {
  override readonly name = 'PortForwardError';
}

/**
 * Reaches ports of a guest on QEMU's user-mode network, which has no address outside QEMU: QEMU listens on an address of the
 * loopback network, chosen at random, for as long as it takes to connect there. Established connections outlive the rule.
 * UDP has no connections, and replies find their way back through the first rule for the guest's port: that rule is shared,
 * and lives while it is used.
 */
export class PortForwarder implements GuestPorts {
  private readonly datagramRules = new Map<number, SharedRule>();

  /**
   * @param netdev the id of the user-mode network
   * @param guestAddress as the guest agent tells it; without, the address that QEMU's DHCP gives
   */
  constructor(
    private readonly qmp: Qemu['qmp'],
    private readonly netdev: string,
    private readonly guestAddress: () => string | undefined,
  ) {}

  async connectStream(port: number): Promise<Socket> {
    const rule = await this.addRule('tcp', port);
    try {
      const socket = await connected(rule);
      // It may fail before anybody else listens for that.
      socket.on('error', () => socket.destroy());
      try {
        // The kernel has connected it; QEMU accepts it in the turn of its loop before it can read one more command than this.
        await this.qmp.execute('query-status');
        await this.untilAccepted(rule, port);
        return socket;
      } catch (error) {
        socket.destroy();
        throw error;
      }
    } finally {
      await this.removeRule(rule);
    }
  }

  /** QEMU takes connections whether the guest does or not; its list of them tells what the guest has said. */
  private async untilAccepted({ host, hostPort }: Rule, port: number): Promise<void> {
    const state = new RegExp(
      `TCP\\[(\\w+)\\]\\s+\\d+\\s+${host.replaceAll('.', '\\.')}\\s+${hostPort}\\s`,
      'g',
    );
    const end = performance.now() + longestSilence;
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      const list = await this.monitor('info usernet');
      // A QEMU that has no such list: whoever reads from the connection sees how it is.
      if (!list.includes('[State]')) return;
      const states = [...list.matchAll(state)].flatMap(([, name]) => (name === listening ? [] : [name]));
      if (states.length === 0) throw new PortForwardError(`port ${port} of the guest refuses connections`);
      if (!states.includes('SYN_SENT')) return;
      if (performance.now() > end) throw new PortForwardError(`port ${port} of the guest does not answer`);
      await delay(pause);
    }
  }

  async connectDatagrams(port: number): Promise<(client: Socket, received: Buffer) => void> {
    const shared = this.datagramRules.get(port) ?? { rule: this.addRule('udp', port), users: 0 };
    this.datagramRules.set(port, shared);
    shared.users++;
    const release = async (): Promise<void> => {
      if (--shared.users > 0) return;
      this.datagramRules.delete(port);
      await this.removeRule(await shared.rule);
    };
    try {
      const { host, hostPort } = await shared.rule;
      return (client, received) =>
        relayDatagrams(client, received, { host, port: hostPort }, () => void release().catch(() => {}));
    } catch (error) {
      shared.users--;
      this.datagramRules.delete(port);
      throw error;
    }
  }

  private async addRule(protocol: Protocol, port: number): Promise<Rule> {
    let refusal = '';
    for (let attempt = 0; attempt < attempts; attempt++) {
      const host = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
      const rule = { protocol, host, hostPort: randomInt(1024, 65536) };
      const guest = `${this.guestAddress() ?? ''}:${port}`;
      refusal = await this.monitor(`hostfwd_add ${this.netdev} ${address(rule)}-${guest}`);
      if (refusal === '') return rule;
    }
    throw new PortForwardError(`QEMU cannot forward ${protocol} port ${port}: ${refusal}`);
  }

  private async removeRule(rule: Rule): Promise<void> {
    await this.monitor(`hostfwd_remove ${this.netdev} ${address(rule)}`);
  }

  /** QMP has no command for this; the human monitor prints nothing when it has done what it was told. */
  private async monitor(command: string): Promise<string> {
    const said = await this.qmp.execute('human-monitor-command', { 'command-line': command });
    return typeof said === 'string' ? said.trim() : '';
  }
}

function address({ protocol, host, hostPort }: Rule): string {
  return `${protocol}:${host}:${hostPort}`;
}

function connected({ host, hostPort }: Rule): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: hostPort });
    const fail = (error: Error) => reject(new PortForwardError(`QEMU's forwarded port: ${error.message}`));
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** Passes bytes between two sockets until both are done, at the pace of the slower. */
export function join(client: Socket, received: Buffer, guest: Socket): void {
  if (received.length > 0) guest.write(received);
  for (const [from, to] of [
    [client, guest],
    [guest, client],
  ] as const) {
    from.on('error', () => from.destroy());
    from.on('close', () => to.destroySoon());
    from.pipe(to);
  }
}
