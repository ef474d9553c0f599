/** Resources that are only a question and its answer: nothing is stored (reviews of access and identity). */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { RequestContext } from '../request.js';

export interface VirtualResource<T extends KubernetesObject = KubernetesObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** Full name in `openapi/definitions`; the body is checked against it. */
  readonly definition: string;
  /** @param object the body, of the type of the definition. @returns the answer, of the same kind */
  create(context: RequestContext, object: T): Promise<T>;
}
