/** Issues certificates; keeps an authority in a directory as `<name>.crt` and `<name>.key`. */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  toPem,
  writeCertificate,
  type CertificateTemplate,
  type Subject,
  type Usage,
} from './certificate.js';
import { readIfExists, writeSecretFile } from './files.js';
import { belongTogether, type KeyPair } from './key-pair.js';

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are valid from a little before now, for clocks that are behind. */
export const backdateMs = 5 * 60 * 1000;

/** What a leaf says of its holder. */
export interface LeafTemplate {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  readonly usages: readonly Usage[];
}

export interface IssueRequest extends LeafTemplate {
  readonly days: number;
}

/** Milliseconds since the epoch. */
export interface Validity {
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface CaOptions {
  /** Name of the files and of the authority; `ca` unless said otherwise. */
  readonly name?: string;
  readonly commonName?: string;
  readonly days?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** An authority that vouches for itself. */
export function createAuthority(commonName: string, validity: Validity): KeyPair {
  const subject = { commonName };
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return sign(pair, { subject, issuer: subject, issuerKey: pair, purpose: { kind: 'authority' } }, validity);
}

/** A new key and a certificate for it, never valid longer than the authority itself. */
export function issueLeaf(
  authority: KeyPair,
  leaf: LeafTemplate,
  { notBefore, notAfter }: Validity,
): KeyPair {
  const issuer = new X509Certificate(authority.cert);
  const { commonName, organizations = [], usages, dnsNames = [], ips = [] } = leaf;
  return sign(
    generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    {
      subject: { commonName, organizations },
      issuer: subjectOf(issuer),
      issuerKey: { publicKey: issuer.publicKey, privateKey: createPrivateKey(authority.key) },
      purpose: { kind: 'leaf', usages, dnsNames, ips },
    },
    { notBefore, notAfter: Math.min(notAfter, Date.parse(issuer.validTo)) },
  );
}

function sign(
  { publicKey, privateKey }: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  template: Omit<CertificateTemplate, 'publicKey' | 'notBefore' | 'notAfter'>,
  { notBefore, notAfter }: Validity,
): KeyPair {
  const der = writeCertificate({
    ...template,
    publicKey,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
  });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: toPem('CERTIFICATE', der), key };
}

export class CertificateAuthority {
  constructor(
    readonly directory: string,
    private readonly pair: KeyPair,
    private readonly now: () => number,
  ) {
    if (!belongTogether(pair)) {
      throw new Error(`the certificate and the key of the authority in ${directory} do not belong together`);
    }
  }

  /** PEM of the authority's own certificate: what others trust. */
  get cert(): string {
    return this.pair.cert;
  }

  issue(request: IssueRequest): KeyPair {
    const now = this.now();
    return issueLeaf(this.pair, request, {
      notBefore: now - backdateMs,
      notAfter: now + request.days * dayMs,
    });
  }
}

/**
 * Opens the authority in `directory`, or makes it (and the directory) if there is none. An authority that is near its end
 * is an error: replacing it silently would cut off every client.
 */
export async function ensureCa(directory: string, options: CaOptions = {}): Promise<CertificateAuthority> {
  const now = options.now ?? Date.now;
  const name = options.name ?? 'ca';
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const existing = await readPair(directory, name);
  if (existing !== undefined) {
    const authority = new CertificateAuthority(directory, existing, now);
    if (Date.parse(new X509Certificate(existing.cert).validTo) < now()) {
      throw new Error(`the certificate authority ${join(directory, `${name}.crt`)} has expired`);
    }
    return authority;
  }
  if ((await readIfExists(join(directory, `${name}.crt`))) !== undefined) {
    throw new Error(
      `${join(directory, `${name}.crt`)} has no key beside it: restore ${name}.key or remove both`,
    );
  }
  const made = createAuthority(options.commonName ?? 'nativirt-ca', {
    notBefore: now() - backdateMs,
    notAfter: now() + (options.days ?? 3650) * dayMs,
  });
  await writePair(directory, name, made);
  return new CertificateAuthority(directory, made, now);
}

/** Common name and organizations, read from the certificate's structure and not from its text. */
export function subjectOf(certificate: X509Certificate): Subject {
  const { CN, O } = certificate.toLegacyObject().subject as { CN?: string | string[]; O?: string | string[] };
  const list = (value: string | string[] | undefined): string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [value];
  const organizations = list(O);
  // Of several common names the last is the most specific one, as Go reads it.
  return { commonName: list(CN).at(-1) ?? '', ...(organizations.length === 0 ? {} : { organizations }) };
}

/** Undefined if it is none. */
export function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

export async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  const cert = await readIfExists(join(directory, `${name}.crt`));
  const key = await readIfExists(join(directory, `${name}.key`));
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** The key first: a crash in between leaves a pair that is noticed as not belonging together, or no certificate. */
export async function writePair(directory: string, name: string, pair: KeyPair): Promise<void> {
  await writeSecretFile(join(directory, `${name}.key`), pair.key);
  await writeSecretFile(join(directory, `${name}.crt`), pair.cert);
}
