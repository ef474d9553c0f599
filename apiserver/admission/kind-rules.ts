/** Admission of one kind, told by what happens to its objects rather than by requests. */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { UserInfo } from '../request.js';
import type { AdmissionContext, AdmissionPlugin, AdmissionRequest } from './interface.js';

export interface RuleContext extends AdmissionContext {
  readonly user: UserInfo;
}

type Causes = readonly StatusCause[] | Promise<readonly StatusCause[]>;

/**
 * What a kind asks of its objects; what is absent is not asked. Status and other subresources are not looked at. The rules are pure,
 * and throw an ApiError only for a refusal that no field of the object is to blame for.
 */
export interface KindRules<T extends KubernetesObject> {
  /** Of the plugin. */
  readonly name: string;
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  /** Defaults of a new object, which it changes in place. Idempotent. */
  prepare?(object: T, context: RuleContext): Promise<void> | void;
  create?(object: T, context: RuleContext): Causes;
  update?(object: T, old: T, context: RuleContext): Causes;
  delete?(old: T, context: RuleContext): Causes;
}

export function kindAdmission<T extends KubernetesObject>(rules: KindRules<T>): AdmissionPlugin {
  const handled = new Set<AdmissionRequest['operation']>();
  if (rules.prepare !== undefined || rules.create !== undefined) handled.add('CREATE');
  if (rules.update !== undefined) handled.add('UPDATE');
  if (rules.delete !== undefined) handled.add('DELETE');
  return {
    name: rules.name,
    handles: ({ group, resource, subresource, operation }) =>
      group === rules.group &&
      resource === rules.resource &&
      subresource === undefined &&
      handled.has(operation),
    // `handles` says that the objects are of the kind, and the operation says which of them there are.
    ...(rules.prepare === undefined
      ? {}
      : {
          async mutate({ operation, object, user }, context) {
            if (operation === 'CREATE') await rules.prepare?.(object as T, { ...context, user });
          },
        }),
    async validate({ operation, object, oldObject, user }, context) {
      const surroundings: RuleContext = { ...context, user };
      switch (operation) {
        case 'CREATE':
          return (await rules.create?.(object as T, surroundings)) ?? [];
        case 'UPDATE':
          return (await rules.update?.(object as T, oldObject as T, surroundings)) ?? [];
        case 'DELETE':
          return (await rules.delete?.(oldObject as T, surroundings)) ?? [];
      }
    },
  };
}
