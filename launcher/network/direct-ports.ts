import { connect, type Socket } from 'node:net';
import type { LauncherInterface } from '../../openapi/launcher/network.js';
import { relayDatagrams } from '../datagrams.js';
import { PortForwardError, type GuestPorts } from '../port-forward.js';

/** Reaches ports of a guest by its address, from within the pod's network namespace. */
export class DirectPorts implements GuestPorts {
  constructor(private readonly host: string) {}

  connectStream(port: number): Promise<Socket> {
    const { host } = this;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port });
      const fail = (error: Error): void =>
        reject(new PortForwardError(`port ${port} of the guest: ${error.message}`));
      socket.once('error', fail);
      socket.once('connect', () => {
        socket.off('error', fail);
        resolve(socket);
      });
    });
  }

  connectDatagrams(port: number): Promise<(client: Socket, received: Buffer) => void> {
    const peer = { host: this.host, port };
    return Promise.resolve((client, received) => relayDatagrams(client, received, peer, () => {}));
  }
}

/** Where the launcher reaches a guest: its address on the bridge, or the pod's own ports where passt passes them on. */
export function guestHost(made: LauncherInterface): string | undefined {
  if (made.kind === 'passt') return '127.0.0.1';
  return made.ipv4?.address ?? made.ipv6?.address;
}
