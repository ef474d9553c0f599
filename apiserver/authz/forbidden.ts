/** Refusals as Kubernetes words them, since scripts and people look for these words. */
import { ApiError } from '../errors/api-error.js';
import type { Attributes } from './authorizer.js';

export function forbidden(attributes: Attributes, reason = ''): ApiError {
  const why = `${sentence(attributes)}${reason === '' ? '' : `: ${reason}`}`;
  if (!attributes.isResource) {
    return new ApiError('Forbidden', `forbidden: ${why}`, {});
  }
  const { group, resource, name } = attributes;
  const what = `${resource}${group === '' ? '' : `.${group}`}${name === '' ? '' : ` "${name}"`}`;
  return new ApiError('Forbidden', `${what} is forbidden: ${why}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  });
}

function sentence(attributes: Attributes): string {
  const { user, verb, isResource, path, group, namespace, resource, subresource } = attributes;
  if (!isResource) return `User "${user.name}" cannot ${verb} path "${path}"`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return `User "${user.name}" cannot ${verb} resource "${full}" in API group "${group}" ${where}`;
}
