/** `Impersonate-User`, `-Group`, `-Uid` and `-Extra-*`: acting as somebody else, if authorization allows each part. */
import { badRequest } from '../errors/api-error.js';
import type { UserInfo } from '../request.js';
import type { Attributes, Authorizer } from '../authz/authorizer.js';
import { forbidden } from '../authz/forbidden.js';
import {
  anonymousUser,
  authenticatedGroup,
  unauthenticatedGroup,
  type Credentials,
} from './authenticator.js';
import { extraHeaders } from './extra-headers.js';

const extraPrefixes = ['impersonate-extra-'];
const authenticationGroup = 'authentication.k8s.io';

/** What the headers ask for; `undefined` if they ask for nothing. */
export function requestedUser(credentials: Credentials): UserInfo | undefined {
  // Hardly any request does, and sorting the values of all its headers takes a tenth of the time of a small one.
  if (!Object.keys(credentials.headers).some((name) => name.startsWith('impersonate-'))) return undefined;
  const [name = ''] = credentials.headerValues('impersonate-user');
  const groups = credentials.headerValues('impersonate-group');
  const [uid] = credentials.headerValues('impersonate-uid');
  const extra = extraHeaders(credentials.rawHeaders, extraPrefixes);
  const hasExtra = Object.keys(extra).length > 0;
  if (name === '') {
    if (groups.length === 0 && uid === undefined && !hasExtra) return undefined;
    throw badRequest('Impersonate-Group, -Uid and -Extra headers need Impersonate-User beside them');
  }
  return { name, groups, ...(uid === undefined ? {} : { uid }), extra };
}

/** @returns as whom the request acts. Rejects with Forbidden for the first part that `user` may not impersonate. */
export async function impersonate(
  user: UserInfo,
  requested: UserInfo,
  authorizer: Authorizer,
  signal: () => AbortSignal,
): Promise<UserInfo> {
  for (const attributes of checks(user, requested)) {
    const decision = await authorizer.authorize(attributes, signal);
    if (decision.effect !== 'allow') throw forbidden(attributes, decision.reason);
  }
  const account = serviceAccount(requested.name);
  const groups = [...requested.groups];
  if (account !== undefined && groups.length === 0) {
    groups.push('system:serviceaccounts', `system:serviceaccounts:${account.namespace}`);
  }
  const implied = requested.name === anonymousUser ? unauthenticatedGroup : authenticatedGroup;
  if (!groups.includes(unauthenticatedGroup) && !groups.includes(implied)) groups.push(implied);
  return { ...requested, groups };
}

function checks(user: UserInfo, requested: UserInfo): Attributes[] {
  const account = serviceAccount(requested.name);
  const check = (
    group: string,
    resource: string,
    name: string,
    more: Partial<Attributes> = {},
  ): Attributes => ({
    user,
    verb: 'impersonate',
    isResource: true,
    path: '',
    group,
    version: '',
    namespace: '',
    resource,
    subresource: '',
    name,
    ...more,
  });
  return [
    account === undefined
      ? check('', 'users', requested.name)
      : check('', 'serviceaccounts', account.name, { namespace: account.namespace }),
    ...requested.groups.map((group) => check('', 'groups', group)),
    ...(requested.uid === undefined ? [] : [check(authenticationGroup, 'uids', requested.uid)]),
    ...Object.entries(requested.extra).flatMap(([key, values]) =>
      values.map((value) => check(authenticationGroup, 'userextras', value, { subresource: key })),
    ),
  ];
}

function serviceAccount(userName: string): { namespace: string; name: string } | undefined {
  const match = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(userName);
  const [, namespace, name] = match ?? [];
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}
