/** The DHCPv6 server of a guest: it gives the one address that is the guest's. */
import type { Socket } from 'node:dgram';
import { addressBytes } from '../../openapi/ip-address.js';
import type { GuestIPv6 } from '../../openapi/launcher/network.js';
import type { Logger } from '../log.js';
import {
  addressAssociation,
  encodeMessage,
  encodeOption,
  linkLayerDuid,
  messageTypes,
  optionCodes,
  parseMessage,
  type Dhcpv6Request,
} from './dhcpv6-message.js';
import { encodeDomains, type NameService } from './name-service.js';

export interface Dhcpv6Lease {
  readonly ipv6: GuestIPv6;
  /** Any address of this machine's own: the server is known by it. */
  readonly serverMac: string;
  readonly names: NameService;
}

/** What to say to a client; undefined: nothing. */
export function answer(request: Dhcpv6Request, lease: Dhcpv6Lease): Buffer | undefined {
  const client = request.options.get(optionCodes.clientId);
  const server = linkLayerDuid(lease.serverMac);
  const meant = request.options.get(optionCodes.serverId);
  if (meant !== undefined && !meant.equals(server)) return undefined;
  const type = answerType(request);
  if (type === undefined || (client === undefined && request.type !== messageTypes.informationRequest)) {
    return undefined;
  }
  const association = request.options.get(optionCodes.nonTemporaryAddresses);
  const rapid = request.options.has(optionCodes.rapidCommit) && request.type === messageTypes.solicit;
  return encodeMessage(type, request.transaction, [
    ...(client === undefined ? [] : [encodeOption(optionCodes.clientId, client)]),
    encodeOption(optionCodes.serverId, server),
    ...(rapid ? [encodeOption(optionCodes.rapidCommit, Buffer.alloc(0))] : []),
    ...(association === undefined || association.length < 4
      ? []
      : [addressAssociation(association.subarray(0, 4), lease.ipv6.address)]),
    ...configuration(lease.names),
  ]);
}

function answerType({ type, options }: Dhcpv6Request): number | undefined {
  switch (type) {
    case messageTypes.solicit:
      return options.has(optionCodes.rapidCommit) ? messageTypes.reply : messageTypes.advertise;
    case messageTypes.request:
    case messageTypes.confirm:
    case messageTypes.renew:
    case messageTypes.rebind:
    case messageTypes.release:
    case messageTypes.decline:
    case messageTypes.informationRequest:
      return messageTypes.reply;
    default:
      return undefined;
  }
}

function configuration({ servers, searchDomains }: NameService): Buffer[] {
  const list = servers.filter((server) => server.includes(':')).map((server) => addressBytes(server));
  return [
    ...(list.length === 0 ? [] : [encodeOption(optionCodes.nameServers, Buffer.concat(list))]),
    ...(searchDomains.length === 0
      ? []
      : [encodeOption(optionCodes.domainList, encodeDomains(searchDomains))]),
  ];
}

const serverPort = 547;
const allServers = 'ff02::1:2';

export class Dhcpv6Server {
  private readonly sockets: Socket[] = [];

  constructor(
    private readonly leases: readonly Dhcpv6Lease[],
    private readonly logger: Logger,
  ) {}

  /** A client's address carries the interface that it asked by, and so its lease. */
  async listen(): Promise<void> {
    if (this.leases.length === 0) return;
    const { createSocket } = await import('node:dgram');
    const socket = createSocket({ type: 'udp6', reuseAddr: true });
    this.sockets.push(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ port: serverPort, address: '::' }, () => {
        socket.off('error', reject);
        socket.on('error', (error) => this.logger.warn('the DHCPv6 server', { error: error.message }));
        for (const { ipv6 } of this.leases) socket.addMembership(allServers, `::%${ipv6.bridge}`);
        resolve();
      });
    });
    socket.on('message', (message, { address, port }) => {
      const lease = this.leases.find(({ ipv6 }) => address.endsWith(`%${ipv6.bridge}`));
      const request = parseMessage(message);
      const bytes = request && lease && answer(request, lease);
      if (!bytes) return;
      socket.send(bytes, port, address, (error) => {
        if (error) this.logger.warn('a DHCPv6 answer was not sent', { error: error.message });
      });
    });
  }

  close(): void {
    for (const socket of this.sockets.splice(0)) socket.close();
  }
}
