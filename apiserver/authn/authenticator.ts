/** Who sent a request. Small authenticators in a chain; the first that recognises its own credentials decides. */
import type { IncomingHttpHeaders } from 'node:http';
import type { X509Certificate } from 'node:crypto';
import { ApiError } from '../errors/api-error.js';
import type { UserInfo } from '../request.js';

/** What authenticators see of a request. They may not read its body. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** Every value of a header that may be repeated, one entry a line: `headers` joins them, which merges groups. */
  headerValues(name: string): readonly string[];
  /** Names and values as they came, in turn. */
  readonly rawHeaders: readonly string[];
  /** The certificate that the client proved to hold, whoever issued it; also on a resumed session. */
  clientCertificate(): X509Certificate | undefined;
}

export interface Authenticated {
  readonly user: UserInfo;
}

export interface Authenticator {
  /**
   * `undefined`: the request has none of this authenticator's credentials, ask the next. Throws (or rejects with) an
   * Unauthorized `ApiError` if it has them and they are not valid.
   */
  authenticate(
    credentials: Credentials,
    signal: () => AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined>;
}

export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const anonymousUser = 'system:anonymous';

export function unauthorized(): ApiError {
  return new ApiError('Unauthorized', 'Unauthorized');
}

/** Adds the group that every authenticated user has. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  return user.groups.includes(authenticatedGroup)
    ? user
    : { ...user, groups: [...user.groups, authenticatedGroup] };
}

/** Asks each in turn; nobody's request is Unauthorized. Stays synchronous as long as its members do. */
export class AuthenticatorChain implements Authenticator {
  constructor(private readonly members: readonly Authenticator[]) {}

  authenticate(
    credentials: Credentials,
    signal: () => AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined> {
    return this.#ask(0, credentials, signal);
  }

  #ask(
    from: number,
    credentials: Credentials,
    signal: () => AbortSignal,
  ): Authenticated | undefined | Promise<Authenticated | undefined> {
    for (let index = from; index < this.members.length; index++) {
      const answer = this.members[index]?.authenticate(credentials, signal);
      if (answer instanceof Promise) {
        return answer.then((result) => result ?? this.#ask(index + 1, credentials, signal));
      }
      if (answer !== undefined) return answer;
    }
    return undefined;
  }
}
