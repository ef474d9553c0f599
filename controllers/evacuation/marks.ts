/** What an evacuation is told by, on a VMI and its pods; and that it is over. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { ObjectMeta } from '../../openapi/meta.js';
import { conditionTypes, reasons } from '../constants.js';
import type { Client } from '../runtime/client.js';
import type { Clock } from '../runtime/clock.js';
import { findCondition, withCondition, withoutCondition } from '../runtime/conditions.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { pods, virtualMachineInstances } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { hasLeft, isMarked } from './leaving.js';

/** Keeps the descheduler from asking again; its value says who answers. */
const inProgress = 'descheduler.alpha.kubernetes.io/eviction-in-progress';
const answeredBy = 'kubevirt';

export class EvictionMarks {
  constructor(
    private readonly client: Client,
    private readonly launchers: Informer<Pod>,
    private readonly clock: Clock,
  ) {}

  /** It still carries what an evacuation has left. */
  isTold({ uid }: ObjectMeta, status: VirtualMachineInstanceStatus | undefined): boolean {
    return (
      findCondition(status?.conditions, conditionTypes.evictionRequested) !== undefined ||
      this.launchers.byIndex(controllerIndex, uid).some(isAnswered)
    );
  }

  async update(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    if (!isMarked(vmi) && !this.isTold(vmi.metadata, vmi.status)) return;
    try {
      await patchStatus(this.client, virtualMachineInstances, vmi, this.#status(vmi), signal);
      const leaving = isMarked(vmi) && !hasLeft(vmi);
      for (const pod of this.launchers.byIndex(controllerIndex, vmi.metadata.uid))
        if (isAnswered(pod) !== leaving) await this.#annotate(pod, leaving, signal);
    } catch (error) {
      // Somebody wrote it meanwhile: its event brings it here again.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }

  #status({ status, ...vmi }: VirtualMachineInstance): VirtualMachineInstanceStatus {
    const type = conditionTypes.evictionRequested;
    if (isMarked({ ...vmi, status }) && !hasLeft({ ...vmi, status })) {
      const message = `its pod was asked to leave node ${status?.evacuationNodeName ?? ''}`;
      const requested = { type, status: 'True', reason: reasons.evictionRequested, message } as const;
      return { ...status, conditions: withCondition(status?.conditions, requested, this.clock.now()) };
    }
    const rest = { ...status, conditions: withoutCondition(status?.conditions, type) };
    delete rest.evacuationNodeName;
    return rest;
  }

  async #annotate({ metadata }: Pod, set: boolean, signal: AbortSignal): Promise<void> {
    const { uid } = metadata;
    const body = { metadata: { uid, annotations: { [inProgress]: set ? answeredBy : null } } };
    await this.client.patch(pods, metadata, { type: 'merge', body }, undefined, signal);
  }
}

function isAnswered({ metadata }: Pod): boolean {
  return metadata.annotations?.[inProgress] === answeredBy;
}
