/** Bundles: the PEM certificates of several authorities, one behind the other. */
import { X509Certificate } from 'node:crypto';

/** The certificates of a bundle in their order. What is none between them is left out. */
export function parseBundle(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
}

/** Each once, the first of its kind. */
export function formatBundle(certificates: readonly X509Certificate[]): string {
  const distinct = new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate]));
  return [...distinct.values()].map((certificate) => certificate.toString()).join('');
}

/** Milliseconds since the epoch. */
export function validity(certificate: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo) };
}

export function isValidAt(certificate: X509Certificate, now: number): boolean {
  const { from, to } = validity(certificate);
  return from <= now && now < to;
}

export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}
