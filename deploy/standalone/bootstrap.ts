/** The objects that a standalone cluster starts with. Idempotent: what is there already stays, our own roles are brought up to date. */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterRole, ClusterRoleBinding, PolicyRule } from '../../openapi/generated/types/rbac_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { ApiError } from '../../apiserver/errors/api-error.js';
import type { Registry, Target } from '../../apiserver/registry/registry.js';
import { standardStorageClass } from '../../controllers/persistent-volume/storage-class.js';
import { clusterRoleBindings, clusterRoles, type ClusterRoleSource } from '../rbac/cluster-roles.js';

const actor = {
  user: { name: 'system:bootstrap', groups: ['system:masters'], extra: {} },
  manager: 'nativirt-bootstrap',
};
const rbac = 'rbac.authorization.k8s.io';
export const kubevirtNamespace = 'kubevirt';

export interface ComponentRole {
  readonly name: string;
  readonly rules: readonly PolicyRule[];
  readonly subject: { readonly kind: 'User' | 'Group'; readonly name: string };
}

export async function bootstrap(registry: Registry, components: readonly ComponentRole[]): Promise<void> {
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease', kubevirtNamespace]) {
    await ensure(
      registry,
      { group: '', resource: 'namespaces', name },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    );
  }
  for (const role of clusterRoles) await ensureRole(registry, role);
  for (const { role, subjects } of clusterRoleBindings) await ensureBinding(registry, role, subjects);
  for (const { name, rules, subject } of components) {
    await ensureRole(registry, { name, rules });
    await ensureBinding(registry, name, [subject]);
  }
  await ensure(
    registry,
    { group: 'storage.k8s.io', resource: 'storageclasses', name: 'standard' },
    standardStorageClass,
  );
  await ensure(
    registry,
    { group: 'kubevirt.io', resource: 'kubevirts', namespace: kubevirtNamespace, name: 'kubevirt' },
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { name: 'kubevirt', namespace: kubevirtNamespace },
      spec: {},
    },
  );
}

type NewObject = New<KubernetesObject> & Record<string, unknown>;

/** Creates it unless it is there; two servers that start at once are both content. */
async function ensure(registry: Registry, target: Target, object: NewObject): Promise<void> {
  if ((await registry.get(target)) !== undefined) return;
  try {
    await registry.create(target, object, actor);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'AlreadyExists')) throw error;
  }
}

async function ensureRole(registry: Registry, source: ClusterRoleSource): Promise<void> {
  const target = { group: rbac, resource: 'clusterroles', name: source.name };
  const wanted = {
    rules: [...source.rules],
    ...(source.aggregates === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [source.aggregates]: 'true' } }] } }),
  };
  const present = await registry.get<ClusterRole>(target);
  if (present === undefined) {
    await ensure(registry, target, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: {
        name: source.name,
        labels: { ...source.labels, 'kubernetes.io/bootstrapping': 'rbac-defaults' },
      },
      ...wanted,
    });
  } else if (source.aggregates === undefined && !isDeepStrictEqual(present.rules, wanted.rules)) {
    await registry.guaranteedUpdate<ClusterRole>(target, (role) => void (role.rules = wanted.rules), actor);
  }
}

async function ensureBinding(
  registry: Registry,
  role: string,
  subjects: readonly { readonly kind: 'User' | 'Group'; readonly name: string }[],
): Promise<void> {
  const target = { group: rbac, resource: 'clusterrolebindings', name: role };
  const binding: New<ClusterRoleBinding> = {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: role },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: subjects.map((subject) => ({ apiGroup: rbac, ...subject })),
  };
  await ensure(registry, target, { ...binding });
}
