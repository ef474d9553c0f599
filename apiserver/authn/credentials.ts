/** Reads the credentials of a node request, and of the connection it came by. */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { Credentials } from './authenticator.js';

/** The certificate of a connection can not change: renegotiation is off. */
const certificates = new WeakMap<Socket, X509Certificate | null>();

export function credentialsOf(request: IncomingMessage): Credentials {
  return {
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    headerValues: (name) => request.headersDistinct[name] ?? [],
    clientCertificate: () => clientCertificate(request.socket),
  };
}

function clientCertificate(socket: Socket): X509Certificate | undefined {
  let certificate = certificates.get(socket);
  if (certificate === undefined) {
    certificate = (socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined) ?? null;
    certificates.set(socket, certificate);
  }
  return certificate ?? undefined;
}
