/** Every kind that the server knows. A new one is a file beside this and a line below. */
import type { Resource } from '../registry/resource.js';
import { clusterRoleBindings } from './clusterrolebindings.js';
import { clusterRoles } from './clusterroles.js';
import { configMaps } from './configmaps.js';
import { controllerRevisions } from './controllerrevisions.js';
import { events } from './events.js';
import { kubeVirts } from './kubevirts.js';
import { leases } from './leases.js';
import { migrationPolicies } from './migrationpolicies.js';
import { namespaces } from './namespaces.js';
import { nodes } from './nodes.js';
import { persistentVolumeClaims } from './persistentvolumeclaims.js';
import { persistentVolumes } from './persistentvolumes.js';
import { plugins } from './plugins.js';
import { podDisruptionBudgets } from './poddisruptionbudgets.js';
import { pods } from './pods.js';
import { priorityClasses } from './priorityclasses.js';
import { resourceQuotas } from './resourcequotas.js';
import { roleBindings } from './rolebindings.js';
import { roles } from './roles.js';
import { secrets } from './secrets.js';
import { serviceAccounts } from './serviceaccounts.js';
import { services } from './services.js';
import { storageClasses } from './storageclasses.js';
import { virtualMachineBackups } from './virtualmachinebackups.js';
import { virtualMachineBackupTrackers } from './virtualmachinebackuptrackers.js';
import { virtualMachineClones } from './virtualmachineclones.js';
import { virtualMachineClusterInstancetypes } from './virtualmachineclusterinstancetypes.js';
import { virtualMachineClusterPreferences } from './virtualmachineclusterpreferences.js';
import { virtualMachineExports } from './virtualmachineexports.js';
import { virtualMachineInstanceMigrations } from './virtualmachineinstancemigrations.js';
import { virtualMachineInstancePresets } from './virtualmachineinstancepresets.js';
import { virtualMachineInstanceReplicaSets } from './virtualmachineinstancereplicasets.js';
import { virtualMachineInstances } from './virtualmachineinstances.js';
import { virtualMachineInstancetypes } from './virtualmachineinstancetypes.js';
import { virtualMachinePools } from './virtualmachinepools.js';
import { virtualMachinePreferences } from './virtualmachinepreferences.js';
import { virtualMachineRestores } from './virtualmachinerestores.js';
import { virtualMachines } from './virtualmachines.js';
import { virtualMachineSnapshotContents } from './virtualmachinesnapshotcontents.js';
import { virtualMachineSnapshots } from './virtualmachinesnapshots.js';

/** KubeVirt's kinds, which every server serves. */
export const kubevirtResources: readonly Resource[] = [
  virtualMachines,
  virtualMachineInstances,
  virtualMachineInstancePresets,
  virtualMachineInstanceReplicaSets,
  virtualMachineInstanceMigrations,
  kubeVirts,
  virtualMachineSnapshots,
  virtualMachineSnapshotContents,
  virtualMachineRestores,
  virtualMachineInstancetypes,
  virtualMachineClusterInstancetypes,
  virtualMachinePreferences,
  virtualMachineClusterPreferences,
  virtualMachinePools,
  migrationPolicies,
  virtualMachineExports,
  virtualMachineClones,
  virtualMachineBackups,
  virtualMachineBackupTrackers,
  plugins,
];

/** Kubernetes' own kinds, which standalone serves because there is no Kubernetes under it. */
export const coreResources: readonly Resource[] = [
  namespaces,
  nodes,
  pods,
  secrets,
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  serviceAccounts,
  services,
  events,
  resourceQuotas,
  leases,
  roles,
  clusterRoles,
  roleBindings,
  clusterRoleBindings,
  storageClasses,
  podDisruptionBudgets,
  controllerRevisions,
  priorityClasses,
];
