/** What each controller may do: the source of the ClusterRoles of every deployment. */
import { authoritiesConfigMap, certificateSecrets } from '../openapi/certificates.js';
import type { PolicyRule } from '../openapi/generated/types/rbac_v1.js';
import type { ControllerName } from './manager.js';

const kubevirt = 'kubevirt.io';
const read = ['get', 'list', 'watch'];

function rule(group: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [...resources], verbs: [...verbs] };
}

/** Each of them writes events. */
const events = rule('', ['events'], ['create', 'patch']);

export const controllerRules: Readonly<Record<ControllerName, readonly PolicyRule[]>> = {
  'virtual-machine': [
    rule(kubevirt, ['virtualmachines'], [...read, 'patch']),
    rule(kubevirt, ['virtualmachines/status', 'virtualmachines/finalizers'], ['patch', 'update']),
    rule(kubevirt, ['virtualmachineinstances'], [...read, 'create', 'patch', 'delete']),
    rule(kubevirt, ['kubevirts'], read),
    rule(
      'instancetype.kubevirt.io',
      [
        'virtualmachineinstancetypes',
        'virtualmachineclusterinstancetypes',
        'virtualmachinepreferences',
        'virtualmachineclusterpreferences',
      ],
      read,
    ),
    rule('apps', ['controllerrevisions'], [...read, 'create', 'delete']),
    rule('', ['persistentvolumeclaims'], read),
    rule('cdi.kubevirt.io', ['datavolumes'], ['get', 'create']),
    events,
  ],
  'virtual-machine-instance': [
    rule(kubevirt, ['virtualmachineinstances'], [...read, 'patch']),
    rule(
      kubevirt,
      ['virtualmachineinstances/status', 'virtualmachineinstances/finalizers'],
      ['patch', 'update'],
    ),
    rule(kubevirt, ['kubevirts'], read),
    rule('', ['pods'], [...read, 'create', 'patch', 'delete']),
    rule('', ['pods/status'], ['patch']),
    rule('', ['persistentvolumeclaims'], [...read, 'create']),
    rule('', ['nodes', 'namespaces', 'resourcequotas'], read),
    events,
  ],
  'replica-set': [
    rule(kubevirt, ['virtualmachineinstancereplicasets'], read),
    rule(
      kubevirt,
      ['virtualmachineinstancereplicasets/status', 'virtualmachineinstancereplicasets/finalizers'],
      ['patch', 'update'],
    ),
    rule(kubevirt, ['virtualmachineinstances'], [...read, 'create', 'patch', 'delete']),
    events,
  ],
  pool: [
    rule('pool.kubevirt.io', ['virtualmachinepools'], read),
    rule(
      'pool.kubevirt.io',
      ['virtualmachinepools/status', 'virtualmachinepools/finalizers'],
      ['patch', 'update'],
    ),
    rule(kubevirt, ['virtualmachines'], [...read, 'create', 'patch', 'delete']),
    rule(kubevirt, ['virtualmachines/restart'], ['update']),
    rule(kubevirt, ['virtualmachineinstances'], [...read, 'delete']),
    rule('apps', ['controllerrevisions'], [...read, 'create', 'delete']),
    rule('', ['persistentvolumeclaims'], [...read, 'patch']),
    rule('cdi.kubevirt.io', ['datavolumes'], ['get', 'patch']),
    rule('', ['nodes'], read),
    events,
  ],
  node: [
    rule('', ['nodes'], [...read, 'patch']),
    rule('', ['pods'], [...read, 'delete']),
    rule(kubevirt, ['virtualmachineinstances', 'kubevirts'], read),
    rule(kubevirt, ['virtualmachineinstances/status'], ['patch']),
    events,
  ],
  'disruption-budget': [
    rule(kubevirt, ['virtualmachineinstances', 'kubevirts'], read),
    rule(kubevirt, ['virtualmachineinstances/finalizers'], ['update']),
    rule('policy', ['poddisruptionbudgets'], [...read, 'create', 'patch', 'delete']),
    events,
  ],
  evacuation: [
    rule('', ['nodes'], read),
    rule('', ['pods'], [...read, 'patch']),
    rule(kubevirt, ['virtualmachineinstances', 'kubevirts'], read),
    rule(kubevirt, ['virtualmachineinstances/status'], ['patch']),
    rule(kubevirt, ['virtualmachineinstances/finalizers'], ['update']),
    rule(kubevirt, ['virtualmachineinstancemigrations'], [...read, 'create']),
    events,
  ],
  'workload-updater': [
    rule(kubevirt, ['kubevirts'], read),
    rule(kubevirt, ['kubevirts/status'], ['patch']),
    rule(kubevirt, ['virtualmachineinstances'], [...read, 'patch']),
    rule('', ['pods'], read),
    rule('', ['pods/eviction'], ['create']),
    events,
  ],
  topology: [
    rule('', ['nodes'], [...read, 'patch']),
    rule(kubevirt, ['virtualmachineinstances', 'kubevirts'], read),
  ],
  scheduler: [
    rule('', ['pods'], [...read, 'delete']),
    rule('', ['pods/binding'], ['create']),
    rule('', ['pods/status'], ['patch']),
    rule('', ['nodes', 'persistentvolumeclaims', 'namespaces'], read),
    rule('scheduling.k8s.io', ['priorityclasses'], read),
    rule('policy', ['poddisruptionbudgets'], read),
    events,
  ],
  'garbage-collector': [rule('*', ['*'], [...read, 'patch', 'delete'])],
  namespace: [
    rule('', ['namespaces'], read),
    rule('', ['namespaces/finalize'], ['update']),
    rule('', ['namespaces/status'], ['patch']),
    rule('*', ['*'], ['list', 'delete']),
  ],
  'persistent-volume': [
    rule('', ['persistentvolumes'], [...read, 'create', 'patch', 'delete']),
    rule('', ['persistentvolumes/status', 'persistentvolumeclaims/status'], ['patch']),
    rule('', ['persistentvolumeclaims'], [...read, 'patch']),
    rule('', ['pods'], read),
    rule('storage.k8s.io', ['storageclasses'], read),
    events,
  ],
  'pod-gc': [rule('', ['pods'], [...read, 'delete']), rule('', ['nodes'], read)],
  'node-lifecycle': [
    rule('', ['nodes'], [...read, 'patch']),
    rule('', ['nodes/status', 'pods/status'], ['patch']),
    rule('', ['pods'], read),
    rule('coordination.k8s.io', ['leases'], read),
    events,
  ],
  'taint-eviction': [
    rule('', ['nodes'], read),
    rule('', ['pods'], [...read, 'delete']),
    rule('', ['pods/status'], ['patch']),
    events,
  ],
  disruption: [
    rule('', ['pods'], read),
    rule('policy', ['poddisruptionbudgets'], read),
    rule('policy', ['poddisruptionbudgets/status'], ['patch']),
  ],
  kubevirt: [rule(kubevirt, ['kubevirts'], read), rule(kubevirt, ['kubevirts/status'], ['patch'])],
  certificates: [
    rule('apiregistration.k8s.io', ['apiservices'], [...read, 'patch']),
    rule(
      'admissionregistration.k8s.io',
      ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
      [...read, 'patch'],
    ),
  ],
};

/** What they may do in the namespace of the installation alone: a Role's. A name does not limit creation. */
export const installationRules: Readonly<Partial<Record<ControllerName, readonly PolicyRule[]>>> = {
  certificates: [
    named('secrets', Object.values(certificateSecrets)),
    named('configmaps', [authoritiesConfigMap]),
    rule('', ['secrets', 'configmaps'], ['create']),
  ],
  kubevirt: [rule(kubevirt, ['kubevirts'], ['create']), rule('apps', ['deployments', 'daemonsets'], read)],
};

function named(resource: string, names: readonly string[]): PolicyRule {
  return { ...rule('', [resource], [...read, 'patch']), resourceNames: [...names] };
}

/** For the process that runs them, beside what its controllers need. */
export const managerRules: readonly PolicyRule[] = [
  rule('coordination.k8s.io', ['leases'], ['get', 'create', 'update']),
];

/** The rules of a process that runs these controllers. */
export function rulesFor(controllers: readonly ControllerName[]): PolicyRule[] {
  const all = [...managerRules, ...controllers.flatMap((name) => controllerRules[name])];
  const distinct = new Map(all.map((each) => [JSON.stringify(each), each]));
  return [...distinct.values()];
}
