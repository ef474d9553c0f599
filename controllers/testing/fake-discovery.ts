import type { KubernetesObject } from '../../openapi/meta.js';
import type { Kind } from '../runtime/client.js';
import type { Discovery } from '../runtime/discovery.js';

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** A server that serves these kinds, with all verbs; `failing` makes it answer no more. */
export function discovering(...kinds: readonly Kind<KubernetesObject>[]): Discovery & { failing: boolean } {
  const discovery = {
    failing: false,
    kinds: () =>
      discovery.failing
        ? Promise.reject(new Error('no answer'))
        : Promise.resolve(kinds.map((kind) => ({ ...kind, verbs }))),
  };
  return discovery;
}
