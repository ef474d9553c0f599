/** Certificates for etcd that change while connections are open: those that are made from then on take the new ones. */
import { credentials, experimental, type ChannelCredentials } from '@grpc/grpc-js';
import type { EtcdTls } from './connection.js';

export interface RenewedTls {
  readonly current: EtcdTls;
  /** Calls back after each change. */
  onChange(listener: () => void): void;
}

/** @param tls of one that is renewed, `ca` is there from the start, and either both or none of `cert` and `key` */
export function channelCredentials(tls: EtcdTls | RenewedTls): ChannelCredentials {
  if (!('onChange' in tls)) return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
  const { ca, cert, key } = tls.current;
  if (ca === undefined) return channelCredentials(tls.current);
  const provider = new TlsProvider(tls);
  const identity = cert !== undefined && key !== undefined ? provider : null;
  return experimental.createCertificateProviderChannelCredentials(provider, identity);
}

/** gRPC takes a listener off again; the source knows only its own. */
class TlsProvider implements experimental.CertificateProvider {
  readonly #ca = new Set<experimental.CaCertificateUpdateListener>();
  readonly #identity = new Set<experimental.IdentityCertificateUpdateListener>();

  constructor(private readonly source: RenewedTls) {
    source.onChange(() => {
      for (const listener of this.#ca) listener(this.#caUpdate());
      for (const listener of this.#identity) listener(this.#identityUpdate());
    });
  }

  addCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ca.add(listener);
    listener(this.#caUpdate());
  }

  removeCaCertificateListener(listener: experimental.CaCertificateUpdateListener): void {
    this.#ca.delete(listener);
  }

  addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identity.add(listener);
    listener(this.#identityUpdate());
  }

  removeIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener): void {
    this.#identity.delete(listener);
  }

  #caUpdate(): experimental.CaCertificateUpdate | null {
    const { ca } = this.source.current;
    return ca === undefined ? null : { caCertificate: ca };
  }

  #identityUpdate(): experimental.IdentityCertificateUpdate | null {
    const { cert, key } = this.source.current;
    return cert === undefined || key === undefined ? null : { certificate: cert, privateKey: key };
  }
}
