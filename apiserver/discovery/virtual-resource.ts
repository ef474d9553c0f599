/** Resources that are only a question and its answer: nothing is stored (reviews of access and identity). */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { RequestContext } from '../request.js';

export interface VirtualResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** @param object the body, whose kind and version have been checked. @returns the answer, of the same kind */
  create(context: RequestContext, object: KubernetesObject): Promise<KubernetesObject>;
}
