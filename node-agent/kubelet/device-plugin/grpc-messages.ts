/** How gRPC frames messages in an HTTP/2 stream. */

export const contentType = 'application/grpc';

/** Of gRPC's codes, those in use here. */
export const codes = { ok: 0, invalidArgument: 3, unimplemented: 12, internal: 13 } as const;

/** A call was refused, or what the far end sent is not what gRPC says. */
export class GrpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'GrpcError';
  }
}

/** Before each message: whether it is compressed, and its length. */
const prefixBytes = 5;
/** gRPC's own bound. */
const longestMessage = 4 * 1024 ** 2;

export function frame(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** The one message that a stream carries. Rejects with `GrpcError`. */
export async function readMessage(stream: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > prefixBytes + longestMessage)
      throw new GrpcError(codes.invalidArgument, `a message has more than ${longestMessage} bytes`);
  }
  const framed = Buffer.concat(chunks);
  if (length < prefixBytes || framed.readUInt32BE(1) !== length - prefixBytes)
    throw new GrpcError(codes.internal, 'not one whole message');
  if (framed[0] !== 0) throw new GrpcError(codes.unimplemented, 'a message is compressed');
  return framed.subarray(prefixBytes);
}

/** The trailers of a call that went well, or failed so. */
export function outcome(error?: Error): Record<string, string> {
  if (error === undefined) return { 'grpc-status': String(codes.ok) };
  const code = error instanceof GrpcError ? error.code : codes.invalidArgument;
  return { 'grpc-status': String(code), 'grpc-message': encodeURIComponent(error.message) };
}
