/** Decisions that need no rules: health for everybody, everything for system:masters. */
import type { Authorizer, Decision } from './authorizer.js';

const noOpinion: Decision = { effect: 'none', reason: '' };

/** @param patterns paths; a trailing `*` matches any rest (kube-apiserver's `--authorization-always-allow-paths`) */
export function allowPaths(patterns: readonly string[]): Authorizer {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('*')));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  const allowed: Decision = { effect: 'allow', reason: 'always allowed path' };
  return {
    authorize: ({ isResource, path, verb }) => {
      if (isResource || (verb !== 'get' && verb !== 'head')) return noOpinion;
      const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      return exact.has(plain) || prefixes.some((prefix) => plain.startsWith(prefix)) ? allowed : noOpinion;
    },
  };
}

export const mastersGroup = 'system:masters';

export const allowMasters: Authorizer = {
  authorize: ({ user }) =>
    user.groups.includes(mastersGroup) ? { effect: 'allow', reason: `member of ${mastersGroup}` } : noOpinion,
};
