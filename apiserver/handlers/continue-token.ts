/** Where the next page of a list starts: the key behind the last object, and the revision of the snapshot. */
import { badRequest } from '../errors/api-error.js';
import type { Revision } from '../../storage/interface.js';

/** Instead of a revision: go on with whatever is newest. Given out when the snapshot of a list is gone. */
export const inconsistent = -1;

export interface ContinueToken {
  readonly revision: Revision;
  /** The last key of the page before. */
  readonly after: string;
}

const tokenVersion = 'meta.k8s.io/v1';

/** Keys of the resource begin with `prefix`, which the token leaves out. */
export function encodeContinue({ revision, after }: ContinueToken, prefix: string): string {
  const token = { v: tokenVersion, rv: revision, start: after.slice(prefix.length) };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    throw badRequest('invalid continue token: it is not one that this server gave out');
  }
}

export function decodeContinue(text: string, prefix: string): ContinueToken {
  const token = parse(text);
  if (
    typeof token !== 'object' ||
    token === null ||
    !('v' in token && token.v === tokenVersion) ||
    !('rv' in token && Number.isSafeInteger(token.rv)) ||
    !('start' in token && typeof token.start === 'string' && token.start !== '')
  ) {
    throw badRequest('invalid continue token: it is not one that this server gave out');
  }
  const revision = token.rv as number;
  if (revision !== inconsistent && revision <= 0) {
    throw badRequest(`invalid continue token: ${revision} is no revision`);
  }
  if (token.start.length > 4096 || token.start.includes('\0')) {
    throw badRequest('invalid continue token: its start is no key');
  }
  return { revision, after: prefix + token.start };
}
