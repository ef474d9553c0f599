/** Certificates as Secrets hold them. */
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import type { Certificates } from '../../apiserver/pki/rotation.js';
import { certificateKeys } from '../../openapi/certificates.js';
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import { timestamp } from '../runtime/clock.js';

const { certificate, privateKey, authorities } = certificateKeys;
/** On the Secret of an authority: when its bundle got its newest one. */
const changedAnnotation = 'nativirt.io/authorities-changed-at';

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();

export interface SecretContent {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Values that are no certificates are left to `rotate`, which takes them for absent. */
export function readCertificates(
  authority: Secret | undefined,
  leaves: ReadonlyMap<string, Secret | undefined>,
): Certificates<string> {
  const changed = Date.parse(authority?.metadata.annotations?.[changedAnnotation] ?? '');
  return {
    authority: readPair(authority),
    bundle: decode(authority?.data?.[authorities]),
    bundleChangedAt: Number.isNaN(changed) ? 0 : changed,
    leaves: Object.fromEntries(
      [...leaves].flatMap(([name, secret]) => {
        const pair = readPair(secret);
        return pair === undefined ? [] : [[name, pair]];
      }),
    ),
  };
}

function readPair(secret: Secret | undefined): KeyPair | undefined {
  if (secret === undefined) return undefined;
  return { cert: decode(secret.data?.[certificate]), key: decode(secret.data?.[privateKey]) };
}

export function leafSecret(pair: KeyPair, bundle: string): SecretContent {
  return {
    data: {
      [certificate]: encode(pair.cert),
      [privateKey]: encode(pair.key),
      [authorities]: encode(bundle),
    },
    annotations: {},
  };
}

export function authoritySecret(pair: KeyPair, bundle: string, changedAt: number): SecretContent {
  return { ...leafSecret(pair, bundle), annotations: { [changedAnnotation]: timestamp(changedAt) } };
}

/** PEM in base64, as `caBundle` has it; undefined while there is none. */
export function bundleOf(authority: Secret | undefined): string | undefined {
  return authority?.data?.[authorities];
}

export function hasContent(secret: Secret, { data, annotations }: SecretContent): boolean {
  return (
    Object.entries(data).every(([key, value]) => secret.data?.[key] === value) &&
    Object.entries(annotations).every(([key, value]) => secret.metadata.annotations?.[key] === value)
  );
}
