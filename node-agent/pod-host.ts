/** Who runs the launcher pods of this node: its kubelet, or, standalone, this agent itself. */
import type { KubeVirt, VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../openapi/meta.js';
import type { Client } from '../controllers/runtime/client.js';
import type { Clock } from '../controllers/runtime/clock.js';
import type { Runnable } from '../controllers/runtime/controller.js';
import type { EventRecorder } from '../controllers/runtime/event-recorder.js';
import type { Informer } from '../controllers/runtime/informer.js';
import type { Informers } from '../controllers/runtime/informers.js';
import type { Logger } from '../controllers/runtime/logger.js';
import type { LauncherDirectories } from './launcher-directory.js';
import type { NodePart } from './launcher-session.js';

export interface PodHostContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly informers: Informers;
  /** What is configured. */
  readonly kubeVirtInformer: Informer<KubeVirt>;
  readonly random: () => number;
  readonly nodeName: string;
  /** Of the node. */
  readonly address: string;
}

export interface PodHost extends Runnable {
  readonly directories: LauncherDirectories;
  /** Without these it can not be told which pods are there. */
  readonly informers: readonly Informer<KubernetesObject>[];
  /** The UID that guests run as. */
  readonly runtimeUser: number;
  /** A directory on the file system that guests' own disks fill. */
  readonly storage: string;
  /** Where somebody probes the guests: the kubelet. */
  readonly probes?: GuestProbes;
  counts(): PodHostCounts;
  /** Where this agent runs the pods: ends them within so many milliseconds, as the machine shuts down. */
  shutDown?(milliseconds: number): Promise<void>;
  /**
   * The privileged steps before a launcher gets its VMI. Idempotent: an agent that is killed in between leaves it to the next.
   * @param pod its UID
   * @returns undefined while the API does not tell enough of the pod: its launcher may be reached before that
   */
  prepare(vmi: VirtualMachineInstance, pod: string, signal: AbortSignal): Promise<NodePart | undefined>;
}

export interface PodHostCounts {
  readonly pods: number;
  readonly images: number;
  readonly imageBytes: number;
}

/** What is found out about guests whose VMI asks for a readiness probe, by their pods' UIDs. */
export interface GuestProbes {
  isReady(pod: string): boolean;
  /** Called with each pod whose readiness has changed. Returns how to end that. */
  onChange(listener: (pod: string) => void): () => void;
}
