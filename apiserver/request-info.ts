/** Path and method → what is asked for, by the rules of kube-apiserver, so that RBAC written for it means the same here. */
import { ApiError, badRequest } from './errors/api-error.js';
import type { RequestInfo, Verb } from './request.js';

const verbOfMethod: Readonly<Record<string, Verb | undefined>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Below `/namespaces/x/`, these belong to the namespace itself and name no resource in it. */
const namespaceSubresources: ReadonlySet<string> = new Set(['status', 'finalize']);

/** What a path says of a resource, before the method and the query are looked at. */
interface ResourcePath {
  readonly group: string;
  readonly version: string;
  /** `/watch/` in front of the resource: the old way to say `watch=true`. */
  readonly watchPrefix: boolean;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/**
 * @param rawPath the path as it came, percent-encoded and without a query
 * @throws ApiError BadRequest for a path that is not valid percent-encoding; MethodNotAllowed for a method that no
 *   resource knows
 */
export function parseRequestInfo(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const path = decodePath(rawPath);
  const target = parseResourcePath(path);
  if (target === undefined) {
    return { verb: 'nonresource', method, path, isResource: false, ...noResource };
  }
  const base = verbOfMethod[method];
  if (base === undefined) {
    throw new ApiError(
      'MethodNotAllowed',
      `the method ${method} is not supported: use GET, POST, PUT, PATCH or DELETE`,
    );
  }
  const { watchPrefix, ...parts } = target;
  const verb = collectionVerb(base, parts.name, watchPrefix, query);
  const name = parts.name ?? nameFromFieldSelector(verb, query);
  return { verb, method, path, isResource: true, ...parts, name };
}

const noResource = {
  group: '',
  version: '',
  namespace: undefined,
  resource: '',
  name: undefined,
  subresource: undefined,
} as const;

function decodePath(rawPath: string): string {
  if (!rawPath.includes('%')) return rawPath;
  try {
    return decodeURIComponent(rawPath);
  } catch (cause) {
    throw new ApiError('BadRequest', 'the path is not valid percent-encoded UTF-8', undefined, { cause });
  }
}

function parseResourcePath(path: string): ResourcePath | undefined {
  const segments = path.replace(/^\/+|\/+$/g, '').split('/');
  const grouped = segments[0] === 'apis';
  if (!grouped && segments[0] !== 'api') return undefined;
  const [group = '', version = '', ...afterVersion] = grouped
    ? segments.slice(1)
    : ['', ...segments.slice(1)];
  const watchPrefix = afterVersion[0] === 'watch' && afterVersion.length > 1;
  const rest = watchPrefix ? afterVersion.slice(1) : afterVersion;
  if (rest[0] === undefined) return undefined;
  if (rest.includes('')) throw badRequest('the path has an empty segment');
  return { group, version, watchPrefix, ...resourceParts(rest) };
}

function resourceParts(
  segments: readonly string[],
): Pick<ResourcePath, 'namespace' | 'resource' | 'name' | 'subresource'> {
  const [first = '', second, third] = segments;
  const inNamespace =
    first === 'namespaces' &&
    second !== undefined &&
    third !== undefined &&
    !namespaceSubresources.has(third);
  const namespace = first === 'namespaces' ? second : undefined;
  const [resource = '', name, ...deeper] = inNamespace ? segments.slice(2) : segments;
  return { namespace, resource, name, subresource: deeper.length === 0 ? undefined : deeper.join('/') };
}

function collectionVerb(
  base: Verb,
  name: string | undefined,
  watchPrefix: boolean,
  query: URLSearchParams,
): Verb {
  if (base === 'delete') return name === undefined ? 'deletecollection' : 'delete';
  if (base !== 'get') return base;
  if (watchPrefix) return 'watch';
  if (name !== undefined) return 'get';
  return isTrue(query.get('watch')) ? 'watch' : 'list';
}

/** As Go's query conversion reads a boolean: present and empty means true. */
function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** A list that can only return one object is authorized by that object's name. */
function nameFromFieldSelector(verb: Verb, query: URLSearchParams): string | undefined {
  if (verb !== 'list' && verb !== 'watch' && verb !== 'deletecollection') return undefined;
  for (const requirement of query.get('fieldSelector')?.split(',') ?? []) {
    const match = /^metadata\.name==?([^=\\]+)$/.exec(requirement);
    const name = match?.[1];
    if (name !== undefined && isPathSegment(name)) return name;
  }
  return undefined;
}

function isPathSegment(name: string): boolean {
  return name !== '.' && name !== '..' && !/[/%]/.test(name);
}

/**
 * The subresource by which RBAC knows a request: everything below the object, except what follows `portforward`, which is
 * data of the request (port and protocol).
 */
export function authorizedSubresource(info: RequestInfo): string {
  const subresource = info.subresource ?? '';
  return subresource.startsWith('portforward/') ? 'portforward' : subresource;
}

/** Whether a request may stay open without limit: these are exempt from timeouts and in-flight limits. */
export function isLongRunning(info: RequestInfo): boolean {
  return info.verb === 'watch' || longRunningSubresources.has(authorizedSubresource(info));
}

const longRunningSubresources: ReadonlySet<string> = new Set([
  'console',
  'vnc',
  'portforward',
  'usbredir',
  'vsock',
]);
