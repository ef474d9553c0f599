/**
 * When certificates of an authority of our own are made anew. Pure: whoever keeps them (files, Secrets) hands in what there
 * is, writes down what comes out, the authority and its bundle first, and asks again at `nextAt`.
 *
 * An authority: none → current → due (80 % of its life) → a new one takes over, and the old one counts until it expires.
 * Leaves are signed by the new one only when everybody has had the time to hear of it.
 */
import { X509Certificate } from 'node:crypto';
import {
  backdateMs,
  createAuthority,
  issueLeaf,
  parseCertificate,
  subjectOf,
  type LeafTemplate,
} from './authority.js';
import { belongTogether, type KeyPair } from './key-pair.js';
import { formatBundle, isIssuedBy, isValidAt, parseBundle, validity } from './bundle.js';

const hour = 60 * 60 * 1000;
const day = 24 * hour;
/** What is left of its life when a certificate is made anew. */
const renewalShare = 0.2;

/** Milliseconds. */
export interface RotationPolicy {
  readonly authorityLifetime: number;
  readonly leafLifetime: number;
  /** How long it takes until all who verify have read a new bundle: a kubelet looks once a minute or two. */
  readonly propagation: number;
  /** How long before now certificates begin to be valid; 5 minutes if absent. */
  readonly backdate?: number;
}

export const defaultRotation: RotationPolicy = {
  authorityLifetime: 7 * day,
  leafLifetime: day,
  propagation: 10 * 60 * 1000,
};

export interface Certificates<Leaf extends string> {
  /** The one that signs; what is unusable is taken for absent. */
  readonly authority: KeyPair | undefined;
  /** PEM of all authorities that count, the newest first. */
  readonly bundle: string;
  /** When the bundle got its newest authority. Milliseconds since the epoch. */
  readonly bundleChangedAt: number;
  readonly leaves: Readonly<Partial<Record<Leaf, KeyPair>>>;
}

export interface RotatedCertificates<Leaf extends string> extends Certificates<Leaf> {
  readonly authority: KeyPair;
  readonly leaves: Readonly<Record<Leaf, KeyPair>>;
  /** When there will be something to do. Milliseconds since the epoch. */
  readonly nextAt: number;
}

/** Returns the same pairs where nothing has to change. */
export function rotate<Leaf extends string>(
  before: Certificates<Leaf>,
  templates: Readonly<Record<Leaf, LeafTemplate>>,
  policy: RotationPolicy,
  now: number,
): RotatedCertificates<Leaf> {
  const { authority, made, due } = currentAuthority(before.authority, policy, now);
  const signer = new X509Certificate(authority.cert);
  const older = parseBundle(before.bundle).filter((certificate) => isValidAt(certificate, now));
  const trusted = [signer, ...older];
  const bundle = formatBundle(trusted);
  const bundleChangedAt = made ? now : before.bundleChangedAt;
  const published = bundleChangedAt + policy.propagation;
  // None outlives its authority.
  const leafLifetime = Math.min(policy.leafLifetime, policy.authorityLifetime);
  const renewals: number[] = [];
  const leafOf = (name: Leaf): KeyPair => {
    const existing = before.leaves[name];
    const standing = standingOf(existing, templates[name], trusted, leafLifetime, now);
    if (existing !== undefined && standing.kind !== 'unusable') {
      const at = standing.kind === 'current' ? standing.dueAt : published;
      if (at > now) {
        renewals.push(at);
        return existing;
      }
    }
    const notAfter = now + leafLifetime;
    const issued = issueLeaf(authority, templates[name], { notBefore: notBefore(policy, now), notAfter });
    renewals.push(dueAt(new X509Certificate(issued.cert), leafLifetime));
    return issued;
  };
  // The names are the keys of the templates.
  const names = Object.keys(templates) as Leaf[];
  const leaves = Object.fromEntries(names.map((name) => [name, leafOf(name)])) as Record<Leaf, KeyPair>;
  const expiries = older.map((certificate) => validity(certificate).to);
  return { authority, bundle, bundleChangedAt, leaves, nextAt: Math.min(due, ...renewals, ...expiries) };
}

function currentAuthority(
  existing: KeyPair | undefined,
  policy: RotationPolicy,
  now: number,
): { readonly authority: KeyPair; readonly made: boolean; readonly due: number } {
  if (existing !== undefined && belongTogether(existing)) {
    const certificate = new X509Certificate(existing.cert);
    const due = dueAt(certificate, policy.authorityLifetime);
    if (certificate.ca && isValidAt(certificate, now) && now < due)
      return { authority: existing, made: false, due };
  }
  // Names differ, so that nobody tries the key of one authority on what another has signed.
  const authority = createAuthority(`nativirt-ca@${new Date(now).toISOString()}`, {
    notBefore: notBefore(policy, now),
    notAfter: now + policy.authorityLifetime,
  });
  const due = dueAt(new X509Certificate(authority.cert), policy.authorityLifetime);
  return { authority, made: true, due };
}

type Standing =
  /** Nobody accepts it. */
  | { readonly kind: 'unusable' }
  /** It works, and should be replaced. */
  | { readonly kind: 'due' }
  | { readonly kind: 'current'; readonly dueAt: number };

function standingOf(
  pair: KeyPair | undefined,
  template: LeafTemplate,
  trusted: readonly X509Certificate[],
  lifetime: number,
  now: number,
): Standing {
  const certificate = pair === undefined ? undefined : parseCertificate(pair.cert);
  if (pair === undefined || certificate === undefined || !belongTogether(pair)) return { kind: 'unusable' };
  if (!isValidAt(certificate, now)) return { kind: 'unusable' };
  if (!trusted.some((authority) => isIssuedBy(certificate, authority))) return { kind: 'unusable' };
  const due = dueAt(certificate, lifetime);
  return now < due && saysWhat(certificate, template) ? { kind: 'current', dueAt: due } : { kind: 'due' };
}

function dueAt(certificate: X509Certificate, lifetime: number): number {
  return validity(certificate).to - lifetime * renewalShare;
}

function notBefore(policy: RotationPolicy, now: number): number {
  return now - (policy.backdate ?? backdateMs);
}

const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

function saysWhat(certificate: X509Certificate, template: LeafTemplate): boolean {
  const { commonName, organizations = [], dnsNames = [], ips = [], usages } = template;
  const subject = subjectOf(certificate);
  const alternatives = certificate.subjectAltName?.split(', ') ?? [];
  const dns = alternatives.flatMap((each) => (each.startsWith('DNS:') ? [each.slice(4)] : []));
  return (
    subject.commonName === commonName &&
    sameItems(subject.organizations ?? [], organizations) &&
    sameItems(dns, dnsNames) &&
    alternatives.length === dnsNames.length + ips.length &&
    ips.every((ip) => certificate.checkIP(ip) !== undefined) &&
    sameItems(
      certificate.keyUsage,
      usages.map((usage) => usageOids[usage]),
    )
  );
}

function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}
