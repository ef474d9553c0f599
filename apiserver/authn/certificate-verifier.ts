/** Whether one of our authorities issued a client's certificate, found once for a certificate and a bundle. */
import { X509Certificate } from 'node:crypto';

const clientUsage = '1.3.6.1.5.5.7.3.2';
const maxChainLength = 5;

/** `foreign`: another authority issued it, or it is not meant for clients. */
export type Standing = 'valid' | 'outdated' | 'foreign';

interface Verified {
  readonly authorities: readonly X509Certificate[];
  readonly trusted: boolean;
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Verifies the issuer itself: `socket.authorized` is true on a resumed TLS session even for a client that never had a
 * certificate.
 */
export class CertificateVerifier {
  #authorities: readonly X509Certificate[];
  /** Connections keep the same certificate object for all their requests. */
  readonly #verified = new WeakMap<X509Certificate, Verified>();

  /** @param caBundle PEM; empty: nobody. Throws if it holds something else than certificates. */
  constructor(
    caBundle: string,
    private readonly now: () => number = Date.now,
  ) {
    this.#authorities = parseBundle(caBundle);
  }

  /** Takes effect with the next request, also on open connections. */
  setAuthorities(caBundle: string): void {
    this.#authorities = parseBundle(caBundle);
  }

  standing(certificate: X509Certificate): Standing {
    let verified = this.#verified.get(certificate);
    if (verified?.authorities !== this.#authorities) {
      verified = this.#verify(certificate);
      this.#verified.set(certificate, verified);
    }
    if (!verified.trusted) return 'foreign';
    const now = this.now();
    return now < verified.notBefore || now > verified.notAfter ? 'outdated' : 'valid';
  }

  #verify(certificate: X509Certificate): Verified {
    return {
      authorities: this.#authorities,
      trusted: mayBeClient(certificate) && this.#isTrusted(certificate),
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
    };
  }

  /** Walks up the chain that the client sent until one of our authorities has signed a link of it. */
  #isTrusted(leaf: X509Certificate): boolean {
    let link: X509Certificate | undefined = leaf;
    for (let depth = 0; link !== undefined && depth < maxChainLength; depth++) {
      const signed: X509Certificate = link;
      if (this.#authorities.some((authority) => hasIssued(authority, signed, this.now()))) return true;
      const issuer: X509Certificate | undefined = signed.issuerCertificate;
      link = issuer !== undefined && hasIssued(issuer, signed, this.now()) ? issuer : undefined;
      if (link?.raw.equals(signed.raw) === true) return false;
    }
    return false;
  }
}

function hasIssued(issuer: X509Certificate, certificate: X509Certificate, now: number): boolean {
  return (
    issuer.ca &&
    Date.parse(issuer.validTo) >= now &&
    certificate.checkIssued(issuer) &&
    certificate.verify(issuer.publicKey)
  );
}

/** node's `keyUsage` is the extended key usage; without one a certificate is good for everything. */
function mayBeClient(certificate: X509Certificate): boolean {
  // node leaves it out where the types say that it is always there.
  const usages = certificate.keyUsage as string[] | undefined;
  return usages === undefined || usages.length === 0 || usages.includes(clientUsage);
}

/** @throws if the bundle is not empty and holds no certificate, or one that can not be read */
function parseBundle(bundle: string): readonly X509Certificate[] {
  if (bundle.trim() === '') return [];
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error('the bundle of client authorities holds no PEM certificate');
  return blocks.map((block) => new X509Certificate(block));
}
