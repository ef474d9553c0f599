/**
 * What guests' networks need of the rest of the node agent, and what they give to it.
 *
 * Everything privileged happens here, in the pod's network namespace, before the launcher gets its VMI. All of it is
 * idempotent: it is done again when an agent starts anew, and does nothing where all is in place.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { LauncherNetwork } from '../../openapi/launcher/network.js';

/** Finds the network namespace of a launcher pod: where there is a kubelet, by a process of the pod. */
export interface PodNamespaces {
  /**
   * A file that setns takes: `/proc/<pid>/ns/net` of a process in the pod, or `/run/netns/<name>`. Undefined where the pod
   * shares the node's network: its guests use QEMU's user-mode network.
   */
  namespaceOf(podUid: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface GuestNetworkRequest {
  readonly vmi: VirtualMachineInstance;
  /** Its annotations tell its interfaces on secondary networks. */
  readonly pod: Pod;
  /** As `PodNamespaces` gives it. */
  readonly namespace: string;
  /** UID that the launcher and QEMU run as: taps belong to it. */
  readonly user: number;
}

export interface GuestNetworks {
  /** What the launcher's `start` takes with the VMI. Rejects with `NetworkError`. */
  setUp(request: GuestNetworkRequest, signal: AbortSignal): Promise<LauncherNetwork>;
  /** Ends what still runs for the pod's guest, and forgets it. What is in the namespace goes with the namespace. */
  tearDown(podUid: string): Promise<void>;
  /** Tears down what pods have left that are not among these. */
  retain(podUids: ReadonlySet<string>): Promise<void>;
}

/** Standalone's stand-in for a cluster's network plugin: gives a pod its namespace before its launcher starts. */
export interface PodNetwork extends PodNamespaces {
  attach(pod: Pod, signal: AbortSignal): Promise<PodAttachment>;
  /** Gives the pod's addresses back and removes its namespace; does nothing for a pod that has none. */
  detach(podUid: string): Promise<void>;
}

export interface PodAttachment {
  readonly namespace: string;
  /** For `status.podIPs`, IPv4 first. */
  readonly addresses: readonly string[];
}

/** A network that can not be had: the message says what was tried and what was said to it. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}
