/** Router advertisements (RFC 4861) and who sends them: the guest learns its router, its network and the MTU. */
import type { Socket } from 'node:dgram';
import { addressBytes, addressAt, parseRange } from '../../openapi/ip-address.js';
import type { GuestIPv6 } from '../../openapi/launcher/network.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../log.js';
import { encodeDomains, type NameService } from './name-service.js';

const routerAdvertisement = 134;
export const routerSolicitation = 133;
const hopLimit = 64;
const managedAddress = 0x80;
const otherConfiguration = 0x40;
const onLink = 0x80;
/** Seconds; three intervals, so that a lost one does no harm. */
const lifetime = 1800;
const intervalMs = 600_000;
const forever = 0xffffffff;

const optionPrefix = 3;
const optionMTU = 5;
const optionNameServers = 25;
const optionSearchDomains = 31;

export interface Advertised {
  readonly ipv6: GuestIPv6;
  readonly mtu: number;
  readonly names: NameService;
}

/**
 * An ICMPv6 message; the kernel adds the checksum. Guests get their one address by DHCPv6: the prefix is for knowing neighbours,
 * not for addresses of one's own making.
 */
export function encodeAdvertisement({ ipv6, mtu, names }: Advertised): Buffer {
  const head = Buffer.alloc(16);
  head.set([routerAdvertisement, 0, 0, 0, hopLimit, managedAddress | otherConfiguration]);
  head.writeUInt16BE(ipv6.isRouter ? lifetime : 0, 6);
  return Buffer.concat([head, prefixOption(ipv6), mtuOption(mtu), serverOption(names), searchOption(names)]);
}

function prefixOption({ address, prefixLength }: GuestIPv6): Buffer {
  const option = Buffer.alloc(32);
  option.set([optionPrefix, 4, prefixLength, onLink]);
  option.writeUInt32BE(forever, 4);
  option.writeUInt32BE(forever, 8);
  option.set(addressBytes(addressAt(parseRange(`${address}/${prefixLength}`), 0)), 16);
  return option;
}

function mtuOption(mtu: number): Buffer {
  const option = Buffer.alloc(8);
  option.set([optionMTU, 1]);
  option.writeUInt32BE(mtu, 4);
  return option;
}

/** RFC 8106. */
function serverOption({ servers }: NameService): Buffer {
  const list = servers.filter((server) => server.includes(':')).map((server) => addressBytes(server));
  return list.length === 0 ? Buffer.alloc(0) : lasting(optionNameServers, Buffer.concat(list));
}

function searchOption({ searchDomains }: NameService): Buffer {
  if (searchDomains.length === 0) return Buffer.alloc(0);
  return lasting(optionSearchDomains, encodeDomains(searchDomains));
}

function lasting(type: number, content: Buffer): Buffer {
  const units = 1 + Math.ceil(content.length / 8);
  const option = Buffer.alloc(units * 8);
  option.set([type, units]);
  option.writeUInt32BE(lifetime, 4);
  option.set(content, 8);
  return option;
}

const loopback = '127.0.0.1';

/**
 * Answers solicitations and speaks up now and then, through the node agent's relay. Nobody speaks before the guest has: then
 * the interface works, and what was never asked is never needed.
 */
export class RouterAdvertiser {
  private readonly message: Buffer;
  private socket: Socket | undefined;
  private cancel = () => {};

  constructor(
    private readonly advertised: Advertised,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.message = encodeAdvertisement(advertised);
  }

  async listen(): Promise<void> {
    const { createSocket } = await import('node:dgram');
    const socket = createSocket('udp4');
    this.socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ port: this.advertised.ipv6.icmp.receive, address: loopback }, () => {
        socket.off('error', reject);
        socket.on('error', (error) => this.logger.warn('router advertisements', { error: error.message }));
        resolve();
      });
    });
    socket.on('message', (message) => {
      if (message[0] === routerSolicitation) this.advertise();
    });
  }

  close(): void {
    this.cancel();
    this.socket?.close();
    this.socket = undefined;
  }

  private advertise(): void {
    this.cancel();
    this.cancel = this.clock.after(intervalMs, () => this.advertise());
    this.socket?.send(this.message, this.advertised.ipv6.icmp.send, loopback, (error) => {
      if (error) this.logger.warn('a router advertisement was not sent', { error: error.message });
    });
  }
}
