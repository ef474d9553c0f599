/**
 * Router advertisements are ICMPv6, for which a process needs privileges that the launcher does not have. socat relays them:
 * a datagram on the loopback interface of the pod's namespace leaves as ICMPv6 on a bridge, and router solicitations come
 * back the same way. It keeps no state: when it has died it is started anew.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { GuestIPv6 } from '../../openapi/launcher/network.js';
import { isAlive, readProcess, sendSignal, type ProcessIdentity } from '../processes.js';
import { enter } from './commands.js';
import { NetworkError } from './interface.js';

const protocolICMPv6 = 58;
const levelIPv6 = 41;
const optionMulticastHops = 18;
const optionICMP6Filter = 1;
const routerSolicitation = 133;
/** Receivers refuse neighbour discovery that has passed a router. */
const hopLimit = 255;

/** A set bit of ICMP6_FILTER blocks its type; words are in the machine's byte order, which is little endian. */
function onlySolicitations(): string {
  const filter = Buffer.alloc(32, 0xff);
  const byte = routerSolicitation >> 3;
  filter.writeUInt8(0xff & ~(1 << (routerSolicitation & 7)), byte);
  return `x${filter.toString('hex')}`;
}

function relayCommand(bridge: string, { send, receive }: GuestIPv6['icmp']): readonly string[] {
  const loopback = '127.0.0.1';
  const options = [
    `so-bindtodevice=${bridge}`,
    `ipv6-join-group=[ff02::2]:${bridge}`,
    `setsockopt-int=${levelIPv6}:${optionMulticastHops}:${hopLimit}`,
    `setsockopt-bin=${protocolICMPv6}:${optionICMP6Filter}:${onlySolicitations()}`,
  ];
  return [
    'socat',
    `UDP4-DATAGRAM:${loopback}:${receive},bind=${loopback}:${send}`,
    `IP6-DATAGRAM:[ff02::1]:${protocolICMPv6},${options.join(',')}`,
  ];
}

/** Starts a relay unless the one that is known still runs. It outlives this agent. */
export async function ensureRelay(
  namespace: string,
  bridge: string,
  ports: GuestIPv6['icmp'],
  known: ProcessIdentity | undefined,
): Promise<ProcessIdentity> {
  if (known !== undefined && (await isAlive(known))) return known;
  const [program = '', ...argv] = [...enter(namespace), ...relayCommand(bridge, ports)];
  const child = spawn(program, argv, { detached: true, stdio: 'ignore', cwd: '/' });
  child.unref();
  if (child.pid === undefined) {
    const [error] = (await once(child, 'error')) as [Error];
    throw new NetworkError(`cannot start ${program}: ${error.message}`, { cause: error });
  }
  const identity = await readProcess(child.pid);
  if (identity === undefined) throw new NetworkError(`${program} ended at once; is socat installed?`);
  return identity;
}

export async function endRelay(identity: ProcessIdentity): Promise<void> {
  await sendSignal(identity, 'SIGTERM');
}
