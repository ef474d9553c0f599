/** Authentication to registries: the `WWW-Authenticate` challenge, bearer tokens of a token service, and basic. */
import { ImageError } from './errors.js';
import { get, readBody } from './http.js';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface Challenge {
  /** Lower case. */
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The challenges of one header: `Bearer realm="…",service="…", Basic realm="…"`. */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  const token = /\s*,?\s*([A-Za-z0-9._~+-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/y;
  for (let match = token.exec(header); match !== null; match = token.exec(header)) {
    const [, word = '', quoted, plain] = match;
    if (quoted === undefined && plain === undefined) {
      challenges.push({ scheme: word.toLowerCase(), parameters: {} });
    } else {
      const value = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
      const last = challenges.at(-1);
      if (last !== undefined) last.parameters[word.toLowerCase()] = value;
    }
  }
  return challenges;
}

export function basicHeader({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

export interface TokenRequest {
  readonly challenge: Challenge;
  readonly repository: string;
  readonly image: string;
  readonly credentials: RegistryCredentials | undefined;
  readonly ca: string | undefined;
  /** Allows a token service over plain HTTP: only where the registry itself is reached so. */
  readonly plainHttp: boolean;
  readonly idleTimeoutMilliseconds: number;
  readonly signal: AbortSignal;
}

function tokenUrl({ challenge, repository, image, plainHttp }: TokenRequest): URL {
  const { realm, service, scope } = challenge.parameters;
  if (realm === undefined || !URL.canParse(realm)) {
    throw new ImageError(
      'Unauthorized',
      `image "${image}": the registry's challenge names no usable token service`,
    );
  }
  const url = new URL(realm);
  // Credentials go there: never in clear text because some registry says so.
  if (url.protocol !== 'https:' && !(plainHttp && url.protocol === 'http:')) {
    throw new ImageError(
      'Unauthorized',
      `image "${image}": the registry's token service ${realm} is not https`,
    );
  }
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', scope ?? `repository:${repository}:pull`);
  return url;
}

function tokenOf(body: Buffer): string | undefined {
  const value: unknown = JSON.parse(body.toString('utf8'));
  if (typeof value !== 'object' || value === null) return undefined;
  if ('token' in value && typeof value.token === 'string') return value.token;
  if ('access_token' in value && typeof value.access_token === 'string') return value.access_token;
  return undefined;
}

/** Asks the challenge's token service; answers the value of an `Authorization` header. */
export async function bearerHeader(request: TokenRequest): Promise<string> {
  const { credentials, image } = request;
  const url = tokenUrl(request);
  const response = await get(url, {
    ...request,
    headers: credentials === undefined ? {} : { Authorization: basicHeader(credentials) },
  });
  const body = await readBody(response, 1024 * 1024);
  if (response.status === 401 || response.status === 403) {
    const who = credentials === undefined ? 'without credentials' : `for user "${credentials.username}"`;
    throw new ImageError('Unauthorized', `image "${image}": ${url.host} refuses a token ${who}`);
  }
  if (response.status !== 200)
    throw new Error(`${url.host} answered ${response.status} to a request for a token`);
  const token = tokenOf(body);
  if (token === undefined) throw new Error(`${url.host} answered without a token`);
  return `Bearer ${token}`;
}
