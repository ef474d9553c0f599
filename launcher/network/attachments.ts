import { accessSync, constants } from 'node:fs';
import type { LauncherNetwork } from '../../openapi/launcher/network.js';
import type { MachineContext } from '../qemu/model.js';
import { passtSocket } from './passt.js';

/** How QEMU reaches the networks that the node agent has made. */
export function attachments(
  network: LauncherNetwork | undefined,
  vhostDevice = '/dev/vhost-net',
): Required<Pick<MachineContext, 'taps' | 'streams'>> {
  const all = Object.entries(network?.interfaces ?? {});
  const vhost = isUsable(vhostDevice);
  return {
    taps: new Map(
      all.flatMap(([name, made]) => {
        if (made.kind !== 'tap') return [];
        const { device, queues, mac, mtu } = made;
        return [[name, { device, vhost, queues, mac, mtu }]];
      }),
    ),
    streams: new Map(
      all.flatMap(([name, { kind }]) => (kind === 'passt' ? [[name, passtSocket(name)]] : [])),
    ),
  };
}

function isUsable(device: string): boolean {
  try {
    accessSync(device, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
