/** The certificate authority of one cluster, kept in a directory as `<name>.crt` and `<name>.key`. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toPem, writeCertificate, type Subject, type Usage } from './certificate.js';
import { readIfExists, writeSecretFile } from './files.js';

const dayMs = 24 * 60 * 60 * 1000;
/** Certificates are valid from a little before now, for clocks that are behind. */
const backdateMs = 5 * 60 * 1000;

export interface KeyPair {
  /** PEM; of a leaf the certificate alone, without its issuer. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

export interface IssueRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  readonly usages: readonly Usage[];
  readonly days: number;
}

export interface CaOptions {
  /** Name of the files and of the authority; `ca` unless said otherwise. */
  readonly name?: string;
  readonly commonName?: string;
  readonly days?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export class CertificateAuthority {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #subject: Subject;
  readonly #notAfter: number;
  readonly #now: () => number;

  constructor(
    readonly directory: string,
    pair: KeyPair,
    now: () => number,
  ) {
    const certificate = new X509Certificate(pair.cert);
    this.cert = pair.cert;
    this.#privateKey = createPrivateKey(pair.key);
    this.#publicKey = createPublicKey(pair.cert);
    if (!certificate.checkPrivateKey(this.#privateKey)) {
      throw new Error(`the certificate and the key of the authority in ${directory} do not belong together`);
    }
    this.#subject = subjectOf(certificate);
    this.#notAfter = Date.parse(certificate.validTo);
    this.#now = now;
  }

  /** PEM of the authority's own certificate: what others trust. */
  readonly cert: string;

  /** A new key and a certificate for it, never valid longer than the authority itself. */
  issue(request: IssueRequest): KeyPair {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const now = this.#now();
    const der = writeCertificate({
      subject: {
        commonName: request.commonName,
        ...(request.organizations === undefined ? {} : { organizations: request.organizations }),
      },
      issuer: this.#subject,
      publicKey: pair.publicKey,
      issuerKey: { publicKey: this.#publicKey, privateKey: this.#privateKey },
      notBefore: new Date(now - backdateMs),
      notAfter: new Date(Math.min(now + request.days * dayMs, this.#notAfter)),
      purpose: {
        kind: 'leaf',
        usages: request.usages,
        dnsNames: request.dnsNames ?? [],
        ips: request.ips ?? [],
      },
    });
    return { cert: toPem('CERTIFICATE', der), key: exportKey(pair.privateKey) };
  }

  /**
   * The pair kept in the directory as `<name>.crt` and `<name>.key`. A new one is issued and written if there is none, if
   * it is not of this authority, does not say what is asked for, or has less than a fifth of its time left.
   */
  async ensureLeaf(name: string, request: IssueRequest): Promise<KeyPair> {
    const existing = await readPair(this.directory, name);
    if (existing !== undefined && this.#isCurrent(existing, request)) return existing;
    const pair = this.issue(request);
    await writePair(this.directory, name, pair);
    return pair;
  }

  #isCurrent(pair: KeyPair, request: IssueRequest): boolean {
    const certificate = parseCertificate(pair.cert);
    if (certificate === undefined) return false;
    if (!certificate.verify(this.#publicKey)) return false;
    const from = Date.parse(certificate.validFrom);
    const to = Date.parse(certificate.validTo);
    if (to - this.#now() < (to - from) / 5) return false;
    const subject = subjectOf(certificate);
    return (
      subject.commonName === request.commonName &&
      sameItems(subject.organizations ?? [], request.organizations ?? []) &&
      (request.dnsNames ?? []).every((dns) => certificate.checkHost(dns) !== undefined) &&
      (request.ips ?? []).every((ip) => certificate.checkIP(ip) !== undefined)
    );
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
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = { commonName: options.commonName ?? 'nativirt-ca' };
  const der = writeCertificate({
    subject,
    issuer: subject,
    publicKey: pair.publicKey,
    issuerKey: pair,
    notBefore: new Date(now() - backdateMs),
    notAfter: new Date(now() + (options.days ?? 3650) * dayMs),
    purpose: { kind: 'authority' },
  });
  const made = { cert: toPem('CERTIFICATE', der), key: exportKey(pair.privateKey) };
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

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  const cert = await readIfExists(join(directory, `${name}.crt`));
  const key = await readIfExists(join(directory, `${name}.key`));
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** The key first: a crash in between leaves a pair that is noticed as not belonging together, or no certificate. */
async function writePair(directory: string, name: string, pair: KeyPair): Promise<void> {
  await writeSecretFile(join(directory, `${name}.key`), pair.key);
  await writeSecretFile(join(directory, `${name}.crt`), pair.cert);
}
