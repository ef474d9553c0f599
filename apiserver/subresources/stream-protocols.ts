/**
 * How a client of a stream puts its bytes into websocket messages. KubeVirt's clients send them as they are; Kubernetes' put
 * the number of a channel in front (0 in, 1 out), and both have text forms for clients without binary messages.
 */

export interface StreamProtocol {
  /** What a message carries; undefined if that is nothing for the guest. */
  readonly decode: (message: Buffer) => Buffer | undefined;
  readonly encode: (payload: Buffer) => string | Buffer;
}

const channels = { input: 0, output: 1, close: 255 } as const;
const digitZero = 0x30;

const plain: StreamProtocol = { decode: (message) => message, encode: (payload) => payload };

const base64: StreamProtocol = {
  decode: (message) => Buffer.from(message.toString('latin1'), 'base64'),
  encode: (payload) => payload.toString('base64'),
};

const outputChannel = Buffer.from([channels.output]);
const channelled: StreamProtocol = {
  decode: (message) => (message[0] === channels.input ? message.subarray(1) : undefined),
  encode: (payload) => Buffer.concat([outputChannel, payload]),
};

const base64Channelled: StreamProtocol = {
  decode: (message) =>
    message[0] === digitZero + channels.input ? base64.decode(message.subarray(1)) : undefined,
  encode: (payload) => `${channels.output}${payload.toString('base64')}`,
};

/** In the order of preference. */
const protocols: ReadonlyMap<string, StreamProtocol> = new Map([
  ['plain.kubevirt.io', plain],
  ['binary.k8s.io', plain],
  ['v5.channel.k8s.io', channelled],
  ['v4.channel.k8s.io', channelled],
  ['channel.k8s.io', channelled],
  ['base64.binary.k8s.io', base64],
  ['v4.base64.channel.k8s.io', base64Channelled],
  ['base64.channel.k8s.io', base64Channelled],
  // What noVNC and websockify call it.
  ['binary', plain],
]);

/** `undefined` if none that is known was offered. What else travels as a protocol, such as a token, must not be echoed. */
export function chooseProtocol(offered: ReadonlySet<string>): string | undefined {
  return [...protocols.keys()].find((name) => offered.has(name));
}

/** A client that named no protocol gets plain bytes. */
export function streamProtocol(name: string): StreamProtocol {
  return protocols.get(name) ?? plain;
}

/** Whether a message says that its sender will send no more on a channel, which ends a stream. */
export function isClosing(name: string, message: Buffer): boolean {
  return name === 'v5.channel.k8s.io' && message[0] === channels.close;
}
