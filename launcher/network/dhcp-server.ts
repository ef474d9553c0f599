/** The DHCP server of a guest: it knows who asks, and always gives the one address that is the guest's. */
import type { Socket } from 'node:dgram';
import type { DHCPOptions } from '../../openapi/generated/types/kubevirt_v1.js';
import { addressBytes, ipv4Mask, parseRange, addressAt } from '../../openapi/ip-address.js';
import type { GuestIPv4 } from '../../openapi/launcher/network.js';
import type { Logger } from '../log.js';
import {
  encodeReply,
  messageTypes,
  optionCodes,
  parseRequest,
  type DhcpReply,
  type DhcpRequest,
} from './dhcp-message.js';
import { encodeDomains, type NameService } from './name-service.js';

export interface DhcpLease {
  readonly mac: string;
  readonly ipv4: GuestIPv4;
  readonly mtu: number;
  readonly hostName: string;
  readonly names: NameService;
  readonly options: DHCPOptions | undefined;
}

const noAddress = '0.0.0.0';
/** The address is the guest's for as long as it lives. */
const infinite = Buffer.alloc(4, 0xff);
/** Options that are the site's own (RFC 3942); a spec may set no others. */
const firstPrivate = 224;
const lastPrivate = 254;

const addresses = (list: readonly string[]): Buffer => Buffer.concat(list.map((each) => addressBytes(each)));

/** What to say to a request; undefined: nothing. */
export function answer(request: DhcpRequest, lease: DhcpLease): Buffer | undefined {
  const { ipv4 } = lease;
  const asked = request.options.get(optionCodes.requestedAddress);
  const server = request.options.get(optionCodes.serverIdentifier);
  if (server !== undefined && !server.equals(addressBytes(ipv4.server))) return undefined;
  switch (request.type) {
    case messageTypes.discover:
      return reply(messageTypes.offer, ipv4.address, leased(lease));
    case messageTypes.request: {
      const wanted = asked ?? addressBytes(request.clientAddress);
      if (!wanted.equals(addressBytes(ipv4.address))) return reply(messageTypes.nak, noAddress, []);
      return reply(messageTypes.ack, ipv4.address, leased(lease));
    }
    case messageTypes.inform:
      return reply(messageTypes.ack, noAddress, configuration(lease));
    default:
      return undefined;
  }

  function reply(type: number, address: string, options: DhcpReply['options']): Buffer {
    return encodeReply(request, { type, address, server: ipv4.server, options });
  }
}

function leased(lease: DhcpLease): DhcpReply['options'] {
  return [[optionCodes.leaseTime, infinite], ...configuration(lease)];
}

function configuration({ ipv4, mtu, hostName, names, options = {} }: DhcpLease): DhcpReply['options'] {
  const found: [number, Buffer][] = [[optionCodes.subnetMask, addressBytes(ipv4Mask(ipv4.prefixLength))]];
  const add = (code: number, value: Buffer): void => {
    if (value.length > 0) found.push([code, value]);
  };
  const servers = names.servers.filter((server) => !server.includes(':'));
  const mtuBytes = Buffer.alloc(2);
  mtuBytes.writeUInt16BE(mtu);
  if (ipv4.gateway !== undefined) add(optionCodes.router, addressBytes(ipv4.gateway));
  add(optionCodes.nameServers, addresses(servers));
  add(optionCodes.hostName, Buffer.from(hostName));
  add(optionCodes.domainName, Buffer.from(names.searchDomains[0] ?? ''));
  add(optionCodes.interfaceMTU, mtuBytes);
  add(
    optionCodes.ntpServers,
    addresses((options.ntpServers ?? []).filter((server) => !server.includes(':'))),
  );
  add(optionCodes.tftpServerName, Buffer.from(options.tftpServerName ?? ''));
  add(optionCodes.bootFileName, Buffer.from(options.bootFileName ?? ''));
  add(optionCodes.domainSearch, encodeDomains(names.searchDomains));
  add(optionCodes.classlessRoutes, routes(ipv4));
  for (const { option, value } of options.privateOptions ?? []) {
    if (option >= firstPrivate && option <= lastPrivate) add(option, Buffer.from(value));
  }
  return found;
}

/** RFC 3442. Clients that read these ignore the router option, so the default route is among them. */
function routes({ gateway, routes: listed }: GuestIPv4): Buffer {
  if (listed.length === 0) return Buffer.alloc(0);
  const all = [...listed, ...(gateway === undefined ? [] : [{ destination: '0.0.0.0/0', gateway }])];
  return Buffer.concat(
    all.map(({ destination, gateway: via }) => {
      const range = parseRange(destination);
      const significant = Math.ceil(range.prefixLength / 8);
      const network = addressBytes(addressAt(range, 0)).subarray(0, significant);
      return Buffer.concat([Buffer.from([range.prefixLength]), network, addressBytes(via)]);
    }),
  );
}

const serverPort = 67;
const clientPort = 68;
const everyone = '255.255.255.255';

/**
 * Serves all leases of a launcher, told apart by the MAC address that asks. A broadcast leaves by the interface that has the
 * address which it is sent from, so each lease has a socket of its own for answers; one for all hears.
 */
export class DhcpServer {
  private readonly sockets: Socket[] = [];

  constructor(
    private readonly leases: readonly DhcpLease[],
    private readonly logger: Logger,
  ) {}

  async listen(): Promise<void> {
    if (this.leases.length === 0) return;
    const { createSocket } = await import('node:dgram');
    const open = (address: string): Promise<Socket> =>
      new Promise((resolve, reject) => {
        const socket = createSocket({ type: 'udp4', reuseAddr: true });
        this.sockets.push(socket);
        socket.once('error', reject);
        socket.bind({ port: serverPort, address }, () => {
          socket.off('error', reject);
          socket.on('error', (error) => this.logger.warn('the DHCP server', { error: error.message }));
          socket.setBroadcast(true);
          resolve(socket);
        });
      });
    const hears = await open('0.0.0.0');
    const answers = new Map<string, Socket>();
    for (const lease of this.leases) {
      const socket = await open(lease.ipv4.server);
      answers.set(lease.mac, socket);
      // A client that renews its lease asks the server by its address.
      socket.on('message', (message) => this.receive(message, answers));
    }
    hears.on('message', (message) => this.receive(message, answers));
  }

  close(): void {
    for (const socket of this.sockets.splice(0)) socket.close();
  }

  private receive(message: Buffer, answers: ReadonlyMap<string, Socket>): void {
    const request = parseRequest(message);
    const lease = this.leases.find(({ mac }) => mac === request?.mac);
    if (request === undefined || lease === undefined) return;
    const bytes = answer(request, lease);
    if (bytes === undefined) return;
    // A client without an address can be reached by broadcast alone: nothing here may write to the neighbour table.
    const to = request.clientAddress === noAddress ? everyone : request.clientAddress;
    answers.get(lease.mac)?.send(bytes, clientPort, to, (error) => {
      if (error) this.logger.warn('a DHCP answer was not sent', { error: error.message });
    });
  }
}
