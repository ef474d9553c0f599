/** Writes X.509 v3 certificates signed with ECDSA P-256 and SHA-256. node-forge writes the ASN.1, node signs. */
import { createHash, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import {
  bits,
  boolean,
  embed,
  encode,
  explicit,
  implicit,
  integer,
  octets,
  oid,
  sequence,
  set,
  time,
  utf8,
  type Der,
} from './der.js';

const oids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const;

export type Usage = 'server' | 'client';

export interface Subject {
  readonly commonName: string;
  /** To Kubernetes: the groups of a user. */
  readonly organizations?: readonly string[];
}

export interface CertificateTemplate {
  readonly subject: Subject;
  readonly issuer: Subject;
  readonly publicKey: KeyObject;
  readonly issuerKey: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly purpose:
    | { readonly kind: 'authority' }
    | {
        readonly kind: 'leaf';
        readonly usages: readonly Usage[];
        readonly dnsNames: readonly string[];
        readonly ips: readonly string[];
      };
}

/** @returns the certificate in DER */
export function writeCertificate(template: CertificateTemplate): Buffer {
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    algorithm,
    name(template.issuer),
    sequence(time(template.notBefore), time(template.notAfter)),
    name(template.subject),
    embed(template.publicKey.export({ type: 'spki', format: 'der' })),
    explicit(3, sequence(...extensions(template))),
  );
  const signature = sign('sha256', encode(body), {
    key: template.issuerKey.privateKey,
    dsaEncoding: 'der',
  });
  return encode(sequence(body, algorithm, bits(signature)));
}

export function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** 16 random bytes between 0x40… and 0x7f…: positive, and of the same length each time. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function name(subject: Subject): Der {
  const attribute = (type: string, value: string): Der => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...(subject.organizations ?? []).map((organization) => attribute(oids.organization, organization)),
    attribute(oids.commonName, subject.commonName),
  );
}

function extension(type: string, value: Der, critical = false): Der {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octets(encode(value)));
}

function extensions(template: CertificateTemplate): Der[] {
  const { purpose } = template;
  const common = [
    extension(oids.subjectKeyIdentifier, octets(keyIdentifier(template.publicKey))),
    extension(
      oids.authorityKeyIdentifier,
      sequence(implicit(0, keyIdentifier(template.issuerKey.publicKey))),
    ),
  ];
  if (purpose.kind === 'authority') {
    return [
      extension(oids.basicConstraints, sequence(boolean(true)), true),
      // keyCertSign and cRLSign are bits 5 and 6.
      extension(oids.keyUsage, bits(Buffer.from([0b0000_0110]), 1), true),
      ...common,
    ];
  }
  const alternatives = [
    ...purpose.dnsNames.map((dns) => implicit(2, Buffer.from(dns, 'latin1'))),
    ...purpose.ips.map((ip) => implicit(7, ipBytes(ip))),
  ];
  return [
    extension(oids.basicConstraints, sequence(), true),
    // digitalSignature is bit 0.
    extension(oids.keyUsage, bits(Buffer.from([0b1000_0000]), 7), true),
    extension(oids.extendedKeyUsage, sequence(...purpose.usages.map((usage) => oid(oids[usage])))),
    ...common,
    ...(alternatives.length === 0 ? [] : [extension(oids.subjectAltName, sequence(...alternatives))]),
  ];
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function ipBytes(ip: string): Buffer {
  if (isIP(ip) === 0) throw new TypeError(`"${ip}" is not an IP address`);
  if (isIPv4(ip)) return Buffer.from(ip.split('.').map(Number));
  // The URL parser writes IPv6 in its shortest form, without a dotted quad.
  const [head = '', tail] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const front = groups(head);
  const back = groups(tail ?? '');
  const zeros = new Array<number>(8 - front.length - back.length).fill(0);
  return Buffer.from([...front, ...zeros, ...back].flatMap((group) => [group >> 8, group & 0xff]));
}
