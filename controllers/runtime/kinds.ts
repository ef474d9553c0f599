/** The kinds that controllers and node agents use. */
import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import type { Lease } from '../../openapi/generated/types/coordination_v1.js';
import type {
  ConfigMap,
  Event,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
} from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachineClusterInstancetype,
  VirtualMachineClusterPreference,
  VirtualMachineInstancetype,
  VirtualMachinePreference,
} from '../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type {
  KubeVirt,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import type { PriorityClass } from '../../openapi/generated/types/scheduling_v1.js';
import type { StorageClass } from '../../openapi/generated/types/storage_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Kind } from './client.js';

function kind<T extends KubernetesObject>(
  apiVersion: string,
  name: string,
  resource: string,
  scope: 'Namespaced' | 'Cluster',
): Kind<T> {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, kind: name, resource, namespaced: scope === 'Namespaced' };
}

export const virtualMachines = kind<VirtualMachine>(
  'kubevirt.io/v1',
  'VirtualMachine',
  'virtualmachines',
  'Namespaced',
);
export const virtualMachineInstances = kind<VirtualMachineInstance>(
  'kubevirt.io/v1',
  'VirtualMachineInstance',
  'virtualmachineinstances',
  'Namespaced',
);
export const virtualMachineInstanceMigrations = kind<VirtualMachineInstanceMigration>(
  'kubevirt.io/v1',
  'VirtualMachineInstanceMigration',
  'virtualmachineinstancemigrations',
  'Namespaced',
);
export const virtualMachineInstanceReplicaSets = kind<VirtualMachineInstanceReplicaSet>(
  'kubevirt.io/v1',
  'VirtualMachineInstanceReplicaSet',
  'virtualmachineinstancereplicasets',
  'Namespaced',
);
export const virtualMachinePools = kind<VirtualMachinePool>(
  'pool.kubevirt.io/v1beta1',
  'VirtualMachinePool',
  'virtualmachinepools',
  'Namespaced',
);
/** CDI's. A cluster need not have it. */
export const dataVolumes = kind<KubernetesObject>(
  'cdi.kubevirt.io/v1beta1',
  'DataVolume',
  'datavolumes',
  'Namespaced',
);
export const kubeVirts = kind<KubeVirt>('kubevirt.io/v1', 'KubeVirt', 'kubevirts', 'Namespaced');

const instancetypeVersion = 'instancetype.kubevirt.io/v1beta1';
export const virtualMachineInstancetypes = kind<VirtualMachineInstancetype>(
  instancetypeVersion,
  'VirtualMachineInstancetype',
  'virtualmachineinstancetypes',
  'Namespaced',
);
export const virtualMachineClusterInstancetypes = kind<VirtualMachineClusterInstancetype>(
  instancetypeVersion,
  'VirtualMachineClusterInstancetype',
  'virtualmachineclusterinstancetypes',
  'Cluster',
);
export const virtualMachinePreferences = kind<VirtualMachinePreference>(
  instancetypeVersion,
  'VirtualMachinePreference',
  'virtualmachinepreferences',
  'Namespaced',
);
export const virtualMachineClusterPreferences = kind<VirtualMachineClusterPreference>(
  instancetypeVersion,
  'VirtualMachineClusterPreference',
  'virtualmachineclusterpreferences',
  'Cluster',
);

export const controllerRevisions = kind<ControllerRevision>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
  'Namespaced',
);
export const configMaps = kind<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'Namespaced');
export const events = kind<Event>('v1', 'Event', 'events', 'Namespaced');
export const namespaces = kind<Namespace>('v1', 'Namespace', 'namespaces', 'Cluster');
export const nodes = kind<Node>('v1', 'Node', 'nodes', 'Cluster');
export const persistentVolumes = kind<PersistentVolume>(
  'v1',
  'PersistentVolume',
  'persistentvolumes',
  'Cluster',
);
export const persistentVolumeClaims = kind<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
  'Namespaced',
);
export const pods = kind<Pod>('v1', 'Pod', 'pods', 'Namespaced');
export const resourceQuotas = kind<ResourceQuota>('v1', 'ResourceQuota', 'resourcequotas', 'Namespaced');
export const secrets = kind<Secret>('v1', 'Secret', 'secrets', 'Namespaced');

export const leases = kind<Lease>('coordination.k8s.io/v1', 'Lease', 'leases', 'Namespaced');
export const podDisruptionBudgets = kind<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
  'Namespaced',
);
export const priorityClasses = kind<PriorityClass>(
  'scheduling.k8s.io/v1',
  'PriorityClass',
  'priorityclasses',
  'Cluster',
);
export const storageClasses = kind<StorageClass>(
  'storage.k8s.io/v1',
  'StorageClass',
  'storageclasses',
  'Cluster',
);
