/**
 * Image references.
 *
 * - `[registry[:port]/]repository[:tag][@sha256:…]`: an image in a registry. Without a registry the configured default
 *   one is meant, without tag and digest the tag `latest`.
 * - `oci:DIRECTORY[:tag][@sha256:…]`: an image in an OCI image layout directory on the node, for use without network.
 *   Without a tag the layout must hold one image, or one tagged `latest`.
 */
import { ImageError } from './errors.js';

export interface RegistryReference {
  readonly kind: 'registry';
  /** As the user wrote it. */
  readonly text: string;
  /** Host and, if given, port. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export interface LayoutReference {
  readonly kind: 'layout';
  readonly text: string;
  readonly directory: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

export type ImageReference = RegistryReference | LayoutReference;
export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const digestPattern = /^sha256:[0-9a-f]{64}$/;
const componentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const registryPattern = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?$/;

function invalid(text: string, problem: string): ImageError {
  return new ImageError(
    'InvalidReference',
    `image "${text}": ${problem}; write [registry/]repository[:tag][@sha256:…] or oci:/directory[:tag]`,
  );
}

function takeDigest(text: string, whole: string): { rest: string; digest: string | undefined } {
  const at = whole.indexOf('@');
  if (at < 0) return { rest: whole, digest: undefined };
  const digest = whole.slice(at + 1);
  if (!digestPattern.test(digest)) {
    throw invalid(text, `"${digest}" is not a digest of the form sha256:<64 hexadecimal digits>`);
  }
  return { rest: whole.slice(0, at), digest };
}

function takeTag(text: string, rest: string): { rest: string; tag: string | undefined } {
  const colon = rest.lastIndexOf(':');
  if (colon < 0 || rest.indexOf('/', colon) >= 0) return { rest, tag: undefined };
  const tag = rest.slice(colon + 1);
  if (!tagPattern.test(tag)) throw invalid(text, `"${tag}" is not a tag`);
  return { rest: rest.slice(0, colon), tag };
}

function parseLayout(text: string): LayoutReference {
  const { rest: withTag, digest } = takeDigest(text, text.slice('oci:'.length));
  const { rest: directory, tag } = takeTag(text, withTag);
  if (directory === '') throw invalid(text, 'no directory after "oci:"');
  if (directory.includes('\0')) throw invalid(text, 'a directory has no NUL character');
  return { kind: 'layout', text, directory, tag, digest };
}

function parseRegistry(text: string, defaultRegistry: string | undefined): RegistryReference {
  const { rest: withTag, digest } = takeDigest(text, text);
  const { rest: path, tag } = takeTag(text, withTag);
  const components = path.split('/');
  const [first = ''] = components;
  // As everywhere: the first component is a host only if it could not be a repository of the default registry.
  const named = components.length > 1 && (/[.:[]/.test(first) || first === 'localhost');
  const registry = named ? first : defaultRegistry;
  if (registry === undefined) {
    throw invalid(text, 'it names no registry, and this node has no default registry');
  }
  if (!registryPattern.test(registry)) throw invalid(text, `"${registry}" is not a registry's host[:port]`);
  const repository = named ? components.slice(1) : components;
  if (!repository.every((component) => componentPattern.test(component))) {
    throw invalid(text, `"${repository.join('/')}" is not a repository name (lower case letters and digits)`);
  }
  return {
    kind: 'registry',
    text,
    registry,
    repository: repository.join('/'),
    tag: tag ?? (digest === undefined ? 'latest' : undefined),
    digest,
  };
}

export function parseReference(text: string, defaultRegistry?: string): ImageReference {
  if (text === '') throw invalid(text, 'it is empty');
  return text.startsWith('oci:') ? parseLayout(text) : parseRegistry(text, defaultRegistry);
}

/** Kubernetes' rule: Always for the tag `latest` and for none, IfNotPresent otherwise. */
export function defaultPullPolicy(reference: ImageReference): PullPolicy {
  if (reference.digest !== undefined) return 'IfNotPresent';
  return reference.tag === undefined || reference.tag === 'latest' ? 'Always' : 'IfNotPresent';
}
