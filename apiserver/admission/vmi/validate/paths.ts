import path from 'node:path';
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, type FieldPath } from '../../causes.js';

/** A file inside an image: absolute, without `.` and `..`, and not the root itself. */
export function filePathCauses(field: FieldPath, given: string): StatusCause[] {
  if (given === '/') return [invalid(field, 'must name a file, not the root')];
  if (path.posix.join('/', given).replace(/\/$/, '') === given.replace(/\/$/, '')) return [];
  return [invalid(field, `${JSON.stringify(given)} must be an absolute path to a file, without . or ..`)];
}
