/** The JSON patches (RFC 6902) by which a restore may differ from the snapshot. */
import type { StatusCause } from '../../../openapi/meta.js';
import { invalid, type FieldPath } from '../causes.js';
import { parseJsonText } from '../json-text.js';

const patchable = ['/spec/', '/metadata/labels/', '/metadata/annotations/'];

/** A text holds one operation or a list of them. */
export function patchCauses(texts: readonly string[], at: FieldPath): StatusCause[] {
  return texts.flatMap((text) => {
    const parsed = parseJsonText(text);
    if (!parsed.valid) return [invalid(at, parsed.fault)];
    const operations: readonly unknown[] = Array.isArray(parsed.value) ? parsed.value : [parsed.value];
    return operations.flatMap((operation) => operationCauses(operation, at));
  });
}

function operationCauses(operation: unknown, at: FieldPath): StatusCause[] {
  const path =
    typeof operation === 'object' && operation !== null && 'path' in operation ? operation.path : undefined;
  if (typeof path !== 'string') {
    return [invalid(at, `${JSON.stringify(operation)} is no operation of a JSON patch: it has no path`)];
  }
  if (patchable.some((prefix) => path.startsWith(prefix))) return [];
  return [
    invalid(at, `${JSON.stringify(path)} must be below ${patchable.join(', ')}: no more can be patched`),
  ];
}
