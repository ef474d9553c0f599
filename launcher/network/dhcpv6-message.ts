/** DHCPv6 messages (RFC 8415) as bytes, as far as one client with one address needs them. */
import { addressBytes } from '../../openapi/ip-address.js';

export const messageTypes = {
  solicit: 1,
  advertise: 2,
  request: 3,
  confirm: 4,
  renew: 5,
  rebind: 6,
  reply: 7,
  release: 8,
  decline: 9,
  informationRequest: 11,
} as const;

export const optionCodes = {
  clientId: 1,
  serverId: 2,
  nonTemporaryAddresses: 3,
  address: 5,
  statusCode: 13,
  rapidCommit: 14,
  nameServers: 23,
  domainList: 24,
} as const;

export interface Dhcpv6Request {
  readonly type: number;
  /** Three bytes. */
  readonly transaction: Buffer;
  /** An option that comes twice is here once; only the first address association counts. */
  readonly options: ReadonlyMap<number, Buffer>;
}

/** Undefined if it is no message of a client. */
export function parseMessage(message: Buffer): Dhcpv6Request | undefined {
  if (message.length < 4) return undefined;
  const options = new Map<number, Buffer>();
  for (let at = 4; at < message.length;) {
    if (at + 4 > message.length) return undefined;
    const code = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    at += 4;
    if (at + length > message.length) return undefined;
    if (!options.has(code)) options.set(code, message.subarray(at, at + length));
    at += length;
  }
  return { type: message[0] ?? 0, transaction: message.subarray(1, 4), options };
}

export function encodeOption(code: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(code);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}

export function encodeMessage(type: number, transaction: Buffer, options: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([type]), transaction, ...options]);
}

/** A DUID that follows from a MAC address (DUID-LL). */
export function linkLayerDuid(mac: string): Buffer {
  return Buffer.concat([Buffer.from([0, 3, 0, 1]), Buffer.from(mac.replaceAll(':', ''), 'hex')]);
}

const forever = 0xffffffff;

/** The association of the client's number with the one address, for ever. */
export function addressAssociation(identity: Buffer, address: string): Buffer {
  const times = Buffer.alloc(8, 0xff);
  const lifetimes = Buffer.alloc(8);
  lifetimes.writeUInt32BE(forever, 0);
  lifetimes.writeUInt32BE(forever, 4);
  const inner = encodeOption(optionCodes.address, Buffer.concat([addressBytes(address), lifetimes]));
  return encodeOption(optionCodes.nonTemporaryAddresses, Buffer.concat([identity, times, inner]));
}
