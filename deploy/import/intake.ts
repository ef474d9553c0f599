/** Turns objects of another server into what this one stores, with everything by which others know them. */
import { createHash } from 'node:crypto';
import { encodeStored } from '../../apiserver/codec/stored-bytes.js';
import type { KindSchema } from '../../apiserver/registry/endpoint.js';
import { objectKey } from '../../apiserver/registry/keys.js';
import type { Resource } from '../../apiserver/registry/resource.js';
import { compileSchema } from '../../apiserver/registry/schema.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Definitions } from '../../openapi/schema.js';

export interface Prepared {
  readonly key: string;
  readonly uid: string;
  readonly bytes: Buffer;
  readonly digest: string;
  /** What the schema does not know, and what it finds wrong: told, and no reason to refuse what another server took. */
  readonly remarks: readonly string[];
}

/** What an object lacks so that it can not be taken over. */
export class IntakeError extends Error {
  override readonly name = 'IntakeError';
}

export class Intake {
  readonly #schemas = new Map<Resource, KindSchema>();

  constructor(private readonly definitions: Definitions) {}

  /** Throws `IntakeError`. The object stays as it is. */
  prepare(resource: Resource, source: KubernetesObject): Prepared {
    // An object is itself whichever order its source writes it in.
    const object = sortedCopy(source);
    checkMetadata(resource, object.metadata);
    const schema = this.#schema(resource);
    const dropped = schema.prune(object).map((path) => `${path} is not known and was left out`);
    const causes = schema.validate(object).map(({ field = '', message = '' }) => `${field}: ${message}`);
    const bytes = encodeStored(object);
    return {
      key: objectKey(resource, object.metadata),
      uid: object.metadata.uid,
      bytes,
      digest: digestOf(bytes),
      remarks: [...dropped, ...causes],
    };
  }

  #schema(resource: Resource): KindSchema {
    const known = this.#schemas.get(resource);
    if (known !== undefined) return known;
    const compiled = compileSchema(this.definitions, resource);
    this.#schemas.set(resource, compiled);
    return compiled;
  }
}

function sortedCopy<T>(value: T): T;
function sortedCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sortedCopy(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]: [string, unknown]) => [name, sortedCopy(member)]));
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64');
}

/** A dump holds what somebody has put into it. */
function checkMetadata(
  resource: Resource,
  { name, namespace, uid, creationTimestamp }: Partial<KubernetesObject['metadata']>,
): void {
  const what = `${resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? '(unnamed)'}`;
  for (const [field, value] of Object.entries({ name, uid, creationTimestamp })) {
    if (typeof value !== 'string' || value === '')
      throw new IntakeError(`${what}: metadata.${field} must be there: this is no object of a server`);
  }
  if (resource.namespaced !== (typeof namespace === 'string' && namespace !== ''))
    throw new IntakeError(
      `${what}: ${resource.namespaced ? 'metadata.namespace must be there' : 'has no namespace'}`,
    );
}
