/** Bearer tokens: in the Authorization header, or among a websocket's subprotocols for browsers, which can set none. */
import { createHash } from 'node:crypto';
import type { UserInfo } from '../request.js';
import {
  unauthorized,
  withAuthenticatedGroup,
  type Authenticated,
  type Authenticator,
  type Credentials,
} from './authenticator.js';

export const websocketTokenPrefix = 'base64url.bearer.authorization.k8s.io.';

/** Says whose a token is; `undefined` if it does not know it. TokenReview is one of these. */
export interface TokenVerifier {
  verify(
    token: string,
    signal: () => AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}

/** Asks its verifiers in turn. A token that none of them knows is Unauthorized, even where anonymous is allowed. */
export class BearerTokenAuthenticator implements Authenticator {
  constructor(private readonly verifiers: readonly TokenVerifier[]) {}

  authenticate(
    credentials: Credentials,
    signal: () => AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined> {
    const token = bearerToken(credentials);
    if (token === undefined) return undefined;
    let pending: Promise<Authenticated | undefined> | undefined;
    for (const verifier of this.verifiers) {
      if (pending !== undefined) {
        pending = pending.then((found) => found ?? verifier.verify(token, signal));
        continue;
      }
      const answer = verifier.verify(token, signal);
      if (answer instanceof Promise) pending = answer;
      else if (answer !== undefined) return answer;
    }
    if (pending === undefined) throw unauthorized();
    return pending.then((found) => {
      if (found === undefined) throw unauthorized();
      return found;
    });
  }
}

export function bearerToken(credentials: Pick<Credentials, 'headers'>): string | undefined {
  const header = credentials.headers.authorization;
  const match = header === undefined ? null : /^bearer +(\S+)\s*$/i.exec(header);
  if (match?.[1] !== undefined) return match[1];
  if (credentials.headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  for (const protocol of (credentials.headers['sec-websocket-protocol'] ?? '').split(',')) {
    const text = protocol.trim();
    if (!text.startsWith(websocketTokenPrefix)) continue;
    const token = Buffer.from(text.slice(websocketTokenPrefix.length), 'base64url').toString();
    if (token !== '') return token;
  }
  return undefined;
}

/** Tokens from a file, looked up by their hash so that no comparison takes longer the more of a token is right. */
export class StaticTokens implements TokenVerifier {
  readonly #users = new Map<string, Authenticated>();

  constructor(tokens: ReadonlyMap<string, UserInfo>) {
    for (const [token, user] of tokens) {
      this.#users.set(digest(token), { user: withAuthenticatedGroup(user) });
    }
  }

  verify(token: string): Authenticated | undefined {
    return this.#users.get(digest(token));
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
