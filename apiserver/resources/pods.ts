import type { Binding, Pod, PodSpec } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { badRequest, conflict, invalid } from '../errors/api-error.js';
import { sameJson } from '../registry/equal.js';
import { forbiddenValue, requiredValue } from '../registry/metadata-rules.js';
import { defineCoreResource, field, versions } from './define.js';
import { podColumns } from './pod-columns.js';

/** The registry gives a kind's functions objects of that kind only. */
const asPod = (object: KubernetesObject): Pod => object;

const defaultGraceSeconds = 30;

function applyDefaults(spec: PodSpec): void {
  spec.restartPolicy ??= 'Always';
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.schedulerName ??= 'default-scheduler';
  spec.terminationGracePeriodSeconds ??= defaultGraceSeconds;
  spec.securityContext ??= {};
}

/** The part of a spec that no update may change. */
function fixed(spec: PodSpec | undefined): unknown {
  const containers = (list: PodSpec['containers'] | undefined): unknown =>
    list?.map((container) => ({ ...container, image: '' }));
  return {
    ...spec,
    containers: containers(spec?.containers),
    initContainers: containers(spec?.initContainers),
    activeDeadlineSeconds: undefined,
    terminationGracePeriodSeconds: undefined,
    tolerations: undefined,
    schedulingGates: undefined,
  };
}

function validateUpdate(pod: Pod, old: Pod): readonly StatusCause[] {
  if (pod.spec?.nodeName !== old.spec?.nodeName && old.spec?.nodeName === undefined) {
    // A pod gets its node through `binding`, which leaves the rest as it is.
    return sameJson(
      fixed({ ...pod.spec, nodeName: '' } as PodSpec),
      fixed({ ...old.spec, nodeName: '' } as PodSpec),
    )
      ? []
      : [specForbidden()];
  }
  return sameJson(fixed(pod.spec), fixed(old.spec)) ? [] : [specForbidden()];
}

function specForbidden(): StatusCause {
  return forbiddenValue(
    'spec',
    'pod updates may not change fields other than the images of containers, activeDeadlineSeconds, terminationGracePeriodSeconds, tolerations and schedulingGates',
  );
}

function bind(pod: Pod, binding: Binding, now: string): void {
  const { name } = pod.metadata;
  const target = binding.target as Partial<Binding['target']> | undefined;
  if (target?.kind !== undefined && target.kind !== 'Node') {
    throw badRequest(`a pod is bound to a Node, not to a ${target.kind}`);
  }
  if (typeof target?.name !== 'string' || target.name === '') {
    throw invalid('', 'Binding', name, [requiredValue('target.name', 'the name of a node')]);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    throw conflict('', 'pods/binding', name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== '') {
    throw conflict(
      '',
      'pods/binding',
      name,
      `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`,
    );
  }
  pod.spec = { containers: [], ...pod.spec, nodeName: target.name };
  const others = pod.status?.conditions?.filter(({ type }) => type !== 'PodScheduled') ?? [];
  pod.status = {
    ...pod.status,
    conditions: [...others, { type: 'PodScheduled', status: 'True', lastTransitionTime: now }],
  };
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export const pods = defineCoreResource({
  group: '',
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  versions: versions('io.k8s.api.core.v1.Pod', 'v1'),
  status: true,
  subresources: {
    binding: {
      verb: 'create',
      kind: 'Binding',
      apply: (object, body, { now }) => {
        bind(asPod(object), body as Binding, now);
      },
    },
  },
  columns: podColumns,
  selectableFields: {
    'spec.nodeName': field(({ spec }: Pod) => spec?.nodeName),
    'spec.restartPolicy': field(({ spec }: Pod) => spec?.restartPolicy),
    'spec.schedulerName': field(({ spec }: Pod) => spec?.schedulerName),
    'spec.serviceAccountName': field(({ spec }: Pod) => spec?.serviceAccountName),
    'spec.hostNetwork': field(({ spec }: Pod) => spec?.hostNetwork ?? false),
    'status.phase': field(({ status }: Pod) => status?.phase),
    'status.podIP': field(({ status }: Pod) => status?.podIP),
    'status.nominatedNodeName': field(({ status }: Pod) => status?.nominatedNodeName),
  },
  strategy: {
    returnsDeletedObject: true,
    generation: true,
    prepareForCreate(object) {
      const pod = asPod(object);
      if (pod.spec !== undefined) applyDefaults(pod.spec);
      pod.status = { phase: 'Pending', qosClass: 'BestEffort' };
    },
    validate: (object, old) => (old === undefined ? [] : validateUpdate(asPod(object), asPod(old))),
    deletionGraceSeconds(object, requested) {
      const pod = asPod(object);
      const node = pod.spec?.nodeName ?? '';
      // Nobody has started it, or all its containers have ended: there is nothing to wait for.
      if (node === '' || isFinished(pod)) return 0;
      return requested ?? pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds;
    },
  },
});
