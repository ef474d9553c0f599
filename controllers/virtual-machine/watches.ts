/** What makes the VM controller look at a VM: the VM itself, its instance, its claims, and what it refers to. */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirt,
  VirtualMachine,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { claimIndex, claimKeys } from '../claims.js';
import { conditionTypes } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';
import type { Expectations } from '../runtime/expectations.js';
import type { Informer } from '../runtime/informer.js';
import { virtualMachines } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import type { Priority } from '../runtime/waiting-keys.js';
import { controllerOf } from '../runtime/writes.js';
import { referentIndex, referentsOf, type InformedReferents } from './instancetype/referents.js';

export interface Watched {
  readonly vms: Informer<VirtualMachine>;
  readonly vmis: Informer<VirtualMachineInstance>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly kubeVirts: Informer<KubeVirt>;
  readonly referents: InformedReferents;
}

type Enqueue = (key: string, priority?: Priority) => void;

/** @param gone is told of each instance that is gone */
export function watch(
  watched: Watched,
  expectations: Expectations,
  enqueue: Enqueue,
  gone: (vmi: VirtualMachineInstance) => void,
): void {
  watchMachines(watched, expectations, enqueue);
  watchInstances(watched, expectations, enqueue, gone);
  watchSurroundings(watched, enqueue);
}

function watchMachines({ vms }: Watched, expectations: Expectations, enqueue: Enqueue): void {
  const seen = (vm: VirtualMachine, priority: Priority): void => {
    const key = keyOf(vm.metadata);
    expectations.versionObserved(key, vm.metadata.uid, vm.metadata.resourceVersion);
    enqueue(key, priority);
  };
  vms.addHandler({
    add: (vm) => seen(vm, 'low'),
    update: (_, vm) => seen(vm, 'normal'),
    delete: (vm) => {
      expectations.forget(keyOf(vm.metadata));
      enqueue(keyOf(vm.metadata));
    },
  });
}

function watchInstances(
  { vmis }: Watched,
  expectations: Expectations,
  enqueue: Enqueue,
  gone: (vmi: VirtualMachineInstance) => void,
): void {
  /** An instance has its VM's name, owned or (after an orphaning delete) not. */
  const enqueueOwner = (vmi: VirtualMachineInstance): void => {
    const owner = controllerOf(vmi);
    if (owner === undefined || owner.kind === virtualMachines.kind) enqueue(keyOf(vmi.metadata));
  };
  vmis.addHandler({
    add: (vmi) => {
      expectations.creationObserved(keyOf(vmi.metadata), vmi.metadata.name);
      enqueueOwner(vmi);
    },
    update: (_, vmi) => {
      const { uid, deletionTimestamp } = vmi.metadata;
      if (deletionTimestamp !== undefined) expectations.deletionObserved(keyOf(vmi.metadata), uid);
      enqueueOwner(vmi);
    },
    delete: (vmi) => {
      gone(vmi);
      expectations.deletionObserved(keyOf(vmi.metadata), vmi.metadata.uid);
      enqueueOwner(vmi);
    },
  });
}

function watchSurroundings({ vms, claims, kubeVirts, referents }: Watched, enqueue: Enqueue): void {
  vms.addIndex(claimIndex, ({ metadata, spec }) => [
    ...claimKeys(metadata.namespace, spec.template.spec),
    ...(spec.dataVolumeTemplates ?? []).map((each) => `${metadata.namespace ?? ''}/${each.metadata.name}`),
  ]);
  vms.addIndex(referentIndex, referentsOf);
  const enqueueAll = (found: readonly VirtualMachine[]): void => {
    for (const vm of found) enqueue(keyOf(vm.metadata));
  };
  const claimChanged = (claim: PersistentVolumeClaim): void =>
    enqueueAll(vms.byIndex(claimIndex, keyOf(claim.metadata)));
  claims.addHandler({ add: claimChanged, update: (_, claim) => claimChanged(claim) });
  referents.onChange((value) => enqueueAll(vms.byIndex(referentIndex, value)));
  // The policy of references, or of live updates, may have changed.
  kubeVirts.addHandler({ update: () => enqueueAll(vms.list().filter(heedsConfiguration)) });
}

const heedsConfiguration = (vm: VirtualMachine): boolean =>
  referentsOf(vm).length > 0 || isConditionTrue(vm.status?.conditions, conditionTypes.restartRequired);
