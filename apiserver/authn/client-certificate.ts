/** Users by client certificate: the common name is the user, the organizations are its groups. */
import { createHash, type X509Certificate } from 'node:crypto';
import { subjectOf } from '../pki/authority.js';
import {
  unauthorized,
  withAuthenticatedGroup,
  type Authenticated,
  type Authenticator,
  type Credentials,
} from './authenticator.js';
import { CertificateVerifier } from './certificate-verifier.js';

const credentialIdKey = 'authentication.kubernetes.io/credential-id';

/** A certificate of another authority is left to the authenticators that follow. */
export class ClientCertificateAuthenticator implements Authenticator {
  readonly #verifier: CertificateVerifier;
  readonly #users = new WeakMap<X509Certificate, Authenticated>();

  constructor(caBundle: string, now: () => number = Date.now) {
    this.#verifier = new CertificateVerifier(caBundle, now);
  }

  /** Takes effect with the next request, also on open connections. */
  setAuthorities(caBundle: string): void {
    this.#verifier.setAuthorities(caBundle);
  }

  authenticate(credentials: Credentials): Authenticated | undefined {
    const certificate = credentials.clientCertificate();
    if (certificate === undefined) return undefined;
    const standing = this.#verifier.standing(certificate);
    if (standing === 'foreign') return undefined;
    const user = this.#users.get(certificate) ?? userOf(certificate);
    if (user === undefined) return undefined;
    this.#users.set(certificate, user);
    if (standing === 'outdated') throw unauthorized();
    return user;
  }
}

function userOf(certificate: X509Certificate): Authenticated | undefined {
  const subject = subjectOf(certificate);
  if (subject.commonName === '') return undefined;
  const fingerprint = createHash('sha256').update(certificate.raw).digest('hex');
  return {
    user: withAuthenticatedGroup({
      name: subject.commonName,
      groups: subject.organizations ?? [],
      extra: { [credentialIdKey]: [`X509SHA256=${fingerprint}`] },
    }),
  };
}
