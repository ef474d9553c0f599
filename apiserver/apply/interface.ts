/** Who owns which field: what the write path asks of `metadata.managedFields` and of server-side apply, one a kind. */
import type { KubernetesObject } from '../../openapi/meta.js';

export interface FieldsContext {
  /** The client's `fieldManager`, or what its User-Agent calls it. */
  readonly manager: string;
  /** The version that the request was made in; the fields are recorded under it. */
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  /** RFC 3339 in seconds, for entries that change. */
  readonly now: string;
}

export interface ObjectFields {
  /**
   * Sets the managedFields of `updated` after an Update: fields that it set or changed belong to its manager, fields that it
   * removed to nobody. Entries whose fields stay the same keep their time, so that a write that changes nothing stays one.
   */
  update(live: KubernetesObject | undefined, updated: KubernetesObject, context: FieldsContext): void;
  /**
   * The live object with `applied` merged in, and its managedFields. Neither input is changed. Throws an ApiError: Conflict
   * with one cause a field that another manager owns (unless `force`), BadRequest for a patch that does not fit the schema.
   */
  apply(
    live: KubernetesObject | undefined,
    applied: KubernetesObject,
    context: FieldsContext & { readonly force: boolean },
  ): KubernetesObject;
  /**
   * The object with `configuration` merged in, as apply merges; who owns what stays as it is. Neither input is changed. Throws
   * `ConfigurationError` if that can not be.
   */
  merge(object: KubernetesObject, configuration: object): object;
}
