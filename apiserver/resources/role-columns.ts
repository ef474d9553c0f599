/** Columns and rules that the kinds of RBAC share. */
import type { RoleRef, Subject } from '../../openapi/generated/types/rbac_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Column, Strategy } from '../registry/resource.js';
import { age, column } from './define.js';
import { immutableField } from './immutable.js';

const rbacGroup = 'rbac.authorization.k8s.io';

interface RoleBinding extends KubernetesObject {
  roleRef: RoleRef;
  subjects?: Subject[];
}

/** The registry gives a kind's functions objects of that kind only. */
const asBinding = (object: KubernetesObject): RoleBinding => object as RoleBinding;

/** Roles show when they were made rather than how old they are. */
export const roleColumns: readonly Column[] = [
  column(
    'Created At',
    { description: 'Time of creation.' },
    ({ metadata }: KubernetesObject) => metadata.creationTimestamp,
  ),
];

export const roleStrategy: Strategy = { nameRule: 'path-segment' };

function subjects({ subjects: all = [] }: RoleBinding, kind: string): string {
  return all
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' ? `${namespace ?? ''}/${name}` : name))
    .join(', ');
}

export const roleBindingColumns: readonly Column[] = [
  column(
    'Role',
    { description: 'The role that is granted.' },
    ({ roleRef }: RoleBinding) => `${roleRef.kind}/${roleRef.name}`,
  ),
  age,
  column('Users', { description: 'Users that it is granted to.', wide: true }, (binding: RoleBinding) =>
    subjects(binding, 'User'),
  ),
  column('Groups', { description: 'Groups that it is granted to.', wide: true }, (binding: RoleBinding) =>
    subjects(binding, 'Group'),
  ),
  column(
    'ServiceAccounts',
    { description: 'Service accounts that it is granted to.', wide: true },
    (binding: RoleBinding) => subjects(binding, 'ServiceAccount'),
  ),
];

function applyDefaults(binding: RoleBinding): void {
  binding.roleRef.apiGroup ??= rbacGroup;
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= rbacGroup;
  }
}

export const roleBindingStrategy: Strategy = {
  nameRule: 'path-segment',
  prepareForCreate: (object) => {
    applyDefaults(asBinding(object));
  },
  prepareForUpdate: (object) => {
    applyDefaults(asBinding(object));
  },
  validate: immutableField('roleRef', ({ roleRef }: RoleBinding) => roleRef),
};
