/** A certificate and its key. */
import { createPrivateKey, X509Certificate } from 'node:crypto';

export interface KeyPair {
  /** PEM; of a leaf the certificate alone, without its issuer. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

/** False also of what is no pair at all. */
export function belongTogether({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
