/** Which instances are a replica set's: those that it controls and selects. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { LabelMatcher } from '../../openapi/selectors.js';
import type { Client } from '../runtime/client.js';
import { isNotFound } from '../runtime/errors.js';
import type { Expectations } from '../runtime/expectations.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { virtualMachineInstanceReplicaSets, virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, controllerReference, patchOwnerReferences } from '../runtime/writes.js';
import { standingOf } from './instances.js';

/** Instances that nobody controls, by namespace. */
const orphanIndex = 'orphan';

export class Membership {
  constructor(
    private readonly client: Client,
    private readonly vmis: Informer<VirtualMachineInstance>,
    private readonly expectations: Expectations,
  ) {
    vmis.addIndex(orphanIndex, (vmi) =>
      controllerOf(vmi) === undefined ? [vmi.metadata.namespace ?? ''] : [],
    );
  }

  isTaken(namespace: string | undefined, name: string): boolean {
    return this.vmis.get({ namespace, name }) !== undefined;
  }

  /** Takes in instances that match and nobody controls, lets go of those that no longer match. Returns the members. */
  async settle(
    replicaSet: VirtualMachineInstanceReplicaSet,
    selector: LabelMatcher,
    signal: AbortSignal,
  ): Promise<VirtualMachineInstance[]> {
    const controlled = this.vmis.byIndex(controllerIndex, replicaSet.metadata.uid);
    // What is to become of them then is the garbage collector's business.
    if (replicaSet.metadata.deletionTimestamp !== undefined) return controlled;
    const members: VirtualMachineInstance[] = [];
    for (const vmi of controlled) {
      if (selector.matches(vmi.metadata.labels)) members.push(vmi);
      else await this.#change(replicaSet, vmi, { remove: replicaSet.metadata.uid }, signal);
    }
    const orphans = this.vmis
      .byIndex(orphanIndex, replicaSet.metadata.namespace ?? '')
      .filter((vmi) => standingOf(vmi) === 'active' && selector.matches(vmi.metadata.labels));
    if (orphans.length === 0 || !(await this.#stillStands(replicaSet, signal))) return members;
    for (const vmi of orphans) {
      const adopted = await this.#change(replicaSet, vmi, { add: controllerReference(replicaSet) }, signal);
      if (adopted !== undefined) members.push(adopted);
    }
    return members;
  }

  /** Asks the server itself: what is being deleted with its members orphaned must not take them back. */
  async #stillStands({ metadata }: VirtualMachineInstanceReplicaSet, signal: AbortSignal): Promise<boolean> {
    try {
      const fresh = await this.client.get(virtualMachineInstanceReplicaSets, metadata, signal);
      return fresh.metadata.uid === metadata.uid && fresh.metadata.deletionTimestamp === undefined;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async #change(
    { metadata }: VirtualMachineInstanceReplicaSet,
    vmi: VirtualMachineInstance,
    change: Parameters<typeof patchOwnerReferences>[3],
    signal: AbortSignal,
  ): Promise<VirtualMachineInstance | undefined> {
    try {
      const written = await patchOwnerReferences(this.client, virtualMachineInstances, vmi, change, signal);
      if (written !== undefined)
        this.expectations.expectWritten(keyOf(metadata), written, this.vmis.get(keyOf(vmi.metadata)));
      return written;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
