/** Users named by a front proxy's headers: how kube-apiserver passes on the requests of an aggregated API. */
import { subjectOf } from '../pki/authority.js';
import {
  withAuthenticatedGroup,
  type Authenticated,
  type Authenticator,
  type Credentials,
} from './authenticator.js';
import { CertificateVerifier } from './certificate-verifier.js';
import { extraHeaders } from './extra-headers.js';

/** Header names are in lower case. */
export interface RequestHeaderConfiguration {
  /** PEM bundle: who issues the proxies' client certificates. */
  readonly clientCa: string;
  /** Common names that a proxy may have; empty: any that the bundle issued. */
  readonly allowedNames: readonly string[];
  /** In the order in which they are looked at. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/**
 * Believes the headers only of a proxy that shows a certificate of the configured authority, so whoever else sends them is
 * what their own credentials say.
 */
export class RequestHeaderAuthenticator implements Authenticator {
  #configuration: RequestHeaderConfiguration | undefined;
  #verifier: CertificateVerifier | undefined;

  constructor(private readonly now: () => number = Date.now) {}

  /** Whether it knows whom to believe. */
  get isConfigured(): boolean {
    return this.#configuration !== undefined;
  }

  /** Takes effect with the next request, also on open connections. Throws if the bundle can not be read; the old one stays then. */
  configure(configuration: RequestHeaderConfiguration): void {
    if (this.#verifier === undefined)
      this.#verifier = new CertificateVerifier(configuration.clientCa, this.now);
    else if (configuration.clientCa !== this.#configuration?.clientCa)
      this.#verifier.setAuthorities(configuration.clientCa);
    this.#configuration = configuration;
  }

  authenticate(credentials: Credentials): Authenticated | undefined {
    const configuration = this.#configuration;
    const certificate = credentials.clientCertificate();
    if (configuration === undefined || certificate === undefined) return undefined;
    if (this.#verifier?.standing(certificate) !== 'valid') return undefined;
    const { allowedNames, usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = configuration;
    if (allowedNames.length > 0 && !allowedNames.includes(subjectOf(certificate).commonName))
      return undefined;
    const first = (names: readonly string[]): string | undefined =>
      names.map((header) => credentials.headerValues(header)[0]).find(isGiven);
    const name = first(usernameHeaders);
    if (name === undefined) return undefined;
    const uid = first(uidHeaders);
    const user = withAuthenticatedGroup({
      name,
      ...(uid === undefined ? {} : { uid }),
      groups: groupHeaders.flatMap((header) => credentials.headerValues(header)),
      extra: extraHeaders(credentials.rawHeaders, extraHeaderPrefixes),
    });
    return { user };
  }
}

const isGiven = (value: string | undefined): value is string => value !== undefined && value !== '';
