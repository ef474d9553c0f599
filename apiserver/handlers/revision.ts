import type { Revision } from '../../storage/interface.js';
import { badRequest } from '../errors/api-error.js';

/** `resourceVersion` of the query; undefined if it is not given. Throws BadRequest for what no store could have given out. */
export function readRevision(query: URLSearchParams): Revision | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  const revision = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(revision)) {
    throw badRequest(`invalid resource version: ${JSON.stringify(text)} is no revision of this server`);
  }
  return revision;
}
