/** Where objects live in the store: `/<group>/<resource>/[<namespace>/]<name>`. */
import { notFound } from '../errors/api-error.js';
import type { Resource } from './resource.js';

/** Longest name or namespace that a key may hold; those that can be created are shorter. */
const maximumSegment = 1024;

/** What a path names: an object of a resource, in a namespace if the kind has them. */
export interface ObjectReference {
  readonly namespace?: string | undefined;
  readonly name: string;
}

function isSegment(text: string): boolean {
  return text !== '' && text.length <= maximumSegment && !/[/\0]/.test(text);
}

/** All keys of a resource begin with this. */
export function resourcePrefix(resource: Pick<Resource, 'group' | 'plural'>): string {
  return `/${resource.group === '' ? 'core' : resource.group}/${resource.plural}/`;
}

/** Throws NotFound for what can not be a name, since no object can have it. */
export function objectKey(resource: Resource, { namespace, name }: ObjectReference): string {
  if (!isSegment(name) || (namespace !== undefined && !isSegment(namespace))) {
    throw notFound(resource.group, resource.plural, name);
  }
  const prefix = resourcePrefix(resource);
  return namespace === undefined ? prefix + name : `${prefix}${namespace}/${name}`;
}
