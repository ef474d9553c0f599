/** DHCP messages (RFC 2131) as bytes. */
import { addressBytes, addressText } from '../../openapi/ip-address.js';

export const messageTypes = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;

export const optionCodes = {
  subnetMask: 1,
  router: 3,
  nameServers: 6,
  hostName: 12,
  domainName: 15,
  interfaceMTU: 26,
  ntpServers: 42,
  requestedAddress: 50,
  leaseTime: 51,
  messageType: 53,
  serverIdentifier: 54,
  renewalTime: 58,
  rebindingTime: 59,
  tftpServerName: 66,
  bootFileName: 67,
  domainSearch: 119,
  classlessRoutes: 121,
} as const;

const bootRequest = 1;
const bootReply = 2;
const ethernet = 1;
const macLength = 6;
const magicCookie = 0x63825363;
const cookieOffset = 236;
const optionsOffset = 240;
/** Some clients ignore shorter ones. */
const minimumLength = 300;
const pad = 0;
const end = 255;

export interface DhcpRequest {
  readonly transaction: number;
  readonly flags: number;
  readonly type: number;
  /** Of a client that has an address already. */
  readonly clientAddress: string;
  /** Lower case, with colons. */
  readonly mac: string;
  readonly options: ReadonlyMap<number, Buffer>;
}

/** Undefined if it is no request of an Ethernet client. */
export function parseRequest(message: Buffer): DhcpRequest | undefined {
  if (message.length < optionsOffset || message.readUInt32BE(cookieOffset) !== magicCookie) return undefined;
  if (message[0] !== bootRequest || message[1] !== ethernet || message[2] !== macLength) return undefined;
  const options = parseOptions(message.subarray(optionsOffset));
  const type = options?.get(optionCodes.messageType)?.[0];
  if (options === undefined || type === undefined) return undefined;
  return {
    transaction: message.readUInt32BE(4),
    flags: message.readUInt16BE(10),
    type,
    clientAddress: addressText(message.subarray(12, 16)),
    mac: [...message.subarray(28, 28 + macLength)]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join(':'),
    options,
  };
}

/** Undefined if they run over the end. */
function parseOptions(bytes: Buffer): Map<number, Buffer> | undefined {
  const options = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length;) {
    const code = bytes[at++];
    if (code === undefined || code === end) break;
    if (code === pad) continue;
    const length = bytes[at++];
    if (length === undefined || at + length > bytes.length) return undefined;
    options.set(code, bytes.subarray(at, at + length));
    at += length;
  }
  return options;
}

export interface DhcpReply {
  readonly type: number;
  readonly address: string;
  readonly server: string;
  /** In this order; longer values than 255 bytes are split (RFC 3396). */
  readonly options: readonly (readonly [code: number, value: Buffer])[];
}

export function encodeReply(request: DhcpRequest, { type, address, server, options }: DhcpReply): Buffer {
  const head = Buffer.alloc(optionsOffset);
  head.set([bootReply, ethernet, macLength]);
  head.writeUInt32BE(request.transaction, 4);
  head.writeUInt16BE(request.flags, 10);
  head.set(addressBytes(request.clientAddress), 12);
  head.set(addressBytes(address), 16);
  head.set(addressBytes(server), 20);
  head.set(Buffer.from(request.mac.replaceAll(':', ''), 'hex'), 28);
  head.writeUInt32BE(magicCookie, cookieOffset);
  const all: DhcpReply['options'] = [
    [optionCodes.messageType, Buffer.from([type])],
    [optionCodes.serverIdentifier, addressBytes(server)],
    ...options,
  ];
  const message = Buffer.concat([
    head,
    ...all.flatMap(([code, value]) => encodeOption(code, value)),
    Buffer.from([end]),
  ]);
  return Buffer.concat([message, Buffer.alloc(Math.max(0, minimumLength - message.length))]);
}

function encodeOption(code: number, value: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < value.length; at += 255) {
    const part = value.subarray(at, at + 255);
    parts.push(Buffer.from([code, part.length]), part);
  }
  return parts;
}
