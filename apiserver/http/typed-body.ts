/** Bodies that are no stored objects (reviews, options of subresources): decoded, and checked against their definition. */
import type { StatusCause } from '../../openapi/meta.js';
import { decodeBody, isJsonObject } from '../codec/decode.js';
import { badRequest, invalid, type ApiError } from '../errors/api-error.js';
import type { RequestContext } from '../request.js';

export interface BodyKind {
  readonly kind: string;
  /** `group/version`. */
  readonly apiVersion: string;
  /** Every fault of what the schema says. */
  readonly validate: (object: object) => readonly StatusCause[];
  /** Whether kind and apiVersion, or the whole body, may be left out, as KubeVirt's clients do with options. */
  readonly lenient: boolean;
}

/**
 * The body as the kind says it is: T must be the generated type of the schema's definition. Throws 415, 400 for what can not
 * be read or is another kind, 422 with causes for what does not fit the schema.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- ties the result to the schema's type
export function readTypedBody<T extends object>(context: RequestContext, expected: BodyKind): T {
  const { body, headers } = context;
  if (expected.lenient && body.length === 0) return {} as T;
  const { value } = decodeBody(body, headers['content-type']);
  if (!isJsonObject(value)) throw unrecognized(expected, 'it is not an object');
  if (!isOfKind(value, expected)) {
    const { kind, apiVersion } = value;
    throw unrecognized(expected, `it is of kind ${quoted(kind)} and apiVersion ${quoted(apiVersion)}`);
  }
  dropNulls(value);
  // What the server answers with is not the client's to send.
  delete value['status'];
  const causes = expected.validate(value);
  if (causes.length > 0) throw invalid(groupOf(expected.apiVersion), expected.kind, '', causes);
  // The schema has just said that it is.
  return value as T;
}

/** To Kubernetes' own clients, null is how an absent member is written. */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (member === null) Reflect.deleteProperty(value, name);
      else dropNulls(member);
    }
  }
}

function isOfKind({ kind, apiVersion }: Record<string, unknown>, expected: BodyKind): boolean {
  if (expected.lenient) return kind === undefined || kind === '' || kind === expected.kind;
  return kind === expected.kind && apiVersion === expected.apiVersion;
}

function unrecognized({ kind, apiVersion }: BodyKind, why: string): ApiError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind} of ${apiVersion}): ${why}`);
}

function groupOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? '' : group;
}

function quoted(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value);
}
