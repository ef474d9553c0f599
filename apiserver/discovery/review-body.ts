/** Decodes the body of a review: JSON or YAML, of the kind that the path names. */
import { parse } from 'yaml';
import type { KubernetesObject } from '../../openapi/meta.js';
import { contentType, jsonType, unsupportedMediaType, yamlType } from '../codec/media-types.js';
import { badRequest } from '../errors/api-error.js';
import type { RequestContext } from '../request.js';
import type { VirtualResource } from './virtual-resource.js';

export function decodeReviewBody(context: RequestContext, virtual: VirtualResource): KubernetesObject {
  const type = contentType(context.headers['content-type']);
  if (type !== jsonType && type !== yamlType) throw unsupportedMediaType([jsonType, yamlType]);
  const object = parseText(context.body.toString('utf8'), type, virtual.kind);
  const apiVersion = `${virtual.group}/${virtual.version}`;
  if (object.kind !== virtual.kind || object.apiVersion !== apiVersion) {
    throw badRequest(
      `the object is ${quoted(object.apiVersion)} ${quoted(object.kind)}, but must be "${apiVersion}" "${virtual.kind}"`,
    );
  }
  // Kind and version are checked; the rest is read field by field by whoever answers.
  return object as unknown as KubernetesObject;
}

function parseText(text: string, type: string, kind: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = type === jsonType ? JSON.parse(text) : parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): it is not an object`);
  }
  return value as Record<string, unknown>;
}

const quoted = (value: unknown): string => (value === undefined ? '(none)' : JSON.stringify(value));
