import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { ApiError } from '../errors/api-error.js';
import { age, column, defineCoreResource, field, versions } from './define.js';

/** The finalizer in the spec that stands for the namespace's contents. */
const contents = 'kubernetes';
const nameLabel = 'kubernetes.io/metadata.name';
const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/** The registry gives a kind's functions objects of that kind only. */
const asNamespace = (object: KubernetesObject): Namespace => object;

function finalizersOf({ spec }: Namespace): readonly string[] {
  return spec?.finalizers ?? [];
}

function label({ metadata }: Namespace): void {
  metadata.labels = { ...metadata.labels, [nameLabel]: metadata.name };
}

export const namespaces = defineCoreResource({
  group: '',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  versions: versions('io.k8s.api.core.v1.Namespace', 'v1'),
  status: true,
  subresources: {
    finalize: {
      verb: 'update',
      kind: 'Namespace',
      apply(object, body) {
        const namespace = asNamespace(object);
        namespace.spec = { ...namespace.spec, finalizers: [...finalizersOf(asNamespace(body))] };
      },
    },
  },
  verbs: ['create', 'get', 'list', 'watch', 'update', 'patch', 'delete'],
  columns: [
    column(
      'Status',
      { description: 'Active, or Terminating while its contents are deleted.' },
      ({ status }: Namespace) => status?.phase,
    ),
    age,
  ],
  selectableFields: { 'status.phase': field(({ status }: Namespace) => status?.phase) },
  strategy: {
    nameRule: 'dns-label',
    prepareForCreate(object) {
      const namespace = asNamespace(object);
      const others = finalizersOf(namespace).filter((name) => name !== contents);
      namespace.spec = { ...namespace.spec, finalizers: [...others, contents] };
      namespace.status = { phase: 'Active' };
      label(namespace);
    },
    prepareForUpdate(object, old, { subresource }) {
      const namespace = asNamespace(object);
      label(namespace);
      if (subresource === 'finalize') return;
      namespace.spec = { ...namespace.spec, finalizers: [...finalizersOf(asNamespace(old))] };
    },
    prepareForDelete(object) {
      const namespace = asNamespace(object);
      namespace.status = { ...namespace.status, phase: 'Terminating' };
    },
    holdsDeletion: (object) => finalizersOf(asNamespace(object)).length > 0,
    validateDelete({ metadata: { name } }) {
      if (!immortal.has(name)) return;
      throw new ApiError(
        'Forbidden',
        `namespaces "${name}" is forbidden: this namespace may not be deleted`,
        {
          name,
          kind: 'namespaces',
        },
      );
    },
  },
});
