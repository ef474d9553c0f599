/** Who is at the other end of a TLS connection: only the API server may ask for a VM's streams. */
import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { apiserverUser } from '../../openapi/node-agent.js';

const clientAuth = '1.3.6.1.5.5.7.3.2';

/** The certificates of a PEM bundle. */
export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/**
 * Undefined if the peer is the API server, else why not. `socket.authorized` alone proves nothing: it is true for a peer
 * without any certificate on a resumed session.
 */
export function refusePeer(
  socket: TLSSocket,
  authorities: readonly X509Certificate[],
  now: number,
): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (!socket.authorized || certificate === undefined) return 'a client certificate is required';
  const issued = authorities.some(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  );
  if (!issued) return 'the client certificate is not of this cluster';
  if (now < Date.parse(certificate.validFrom) || now > Date.parse(certificate.validTo)) {
    return 'the client certificate is not valid at this time';
  }
  // Node declares the key usages as an array that is always there; certificates without any have none.
  const usages = certificate.keyUsage as string[] | undefined;
  if (usages !== undefined && !usages.includes(clientAuth)) return 'the certificate is not for clients';
  const { CN: name } = certificate.toLegacyObject().subject as { CN?: string | string[] };
  return name === apiserverUser ? undefined : `only ${apiserverUser} may open streams`;
}
