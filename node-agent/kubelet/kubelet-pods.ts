/** Launcher pods that a kubelet runs: where it keeps their directories, and what the API says of them. */
import { join } from 'node:path';
import type { ContainerStatus, Pod } from '../../openapi/generated/types/core_v1.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { privateVolume } from '../../openapi/launcher/pod.js';
import { parseTerminationMessage } from '../../openapi/launcher/termination.js';
import type { DomainStatus } from '../../openapi/launcher/protocol.js';
import { computeStatus } from '../pod-readiness.js';
import { checkedUid, LauncherDirectory, type LauncherDirectories } from '../launcher-directory.js';

export class KubeletPods implements LauncherDirectories {
  /**
   * @param directory the kubelet's, as this process sees it
   * @param informer launcher pods of this node
   */
  constructor(
    private readonly directory: string,
    private readonly informer: Informer<Pod>,
  ) {}

  of(uid: string): KubeletPodDirectory {
    return new KubeletPodDirectory(this, this.directory, checkedUid(uid));
  }

  get size(): number {
    return this.informer.list().length;
  }

  get hasSynced(): boolean {
    return this.informer.hasSynced;
  }

  pod(uid: string): Pod | undefined {
    return this.informer.list().find(({ metadata }) => metadata.uid === uid);
  }
}

export class KubeletPodDirectory extends LauncherDirectory {
  constructor(
    private readonly pods: KubeletPods,
    kubelet: string,
    private readonly uid: string,
  ) {
    super(join(kubelet, 'pods', uid, 'volumes/kubernetes.io~empty-dir', privateVolume));
  }

  isLauncherAlive(): Promise<boolean> {
    if (!this.pods.hasSynced) return Promise.resolve(true);
    const pod = this.pods.pod(this.uid);
    const phase = pod?.status?.phase;
    const alive =
      pod !== undefined && phase !== 'Succeeded' && phase !== 'Failed' && !isEnded(computeStatus(pod));
    return Promise.resolve(alive);
  }

  /** The kubelet removes the directory of a pod that has ended: what the launcher said last is in the pod's status then. */
  override async lastStatus(): Promise<DomainStatus | undefined> {
    const status = await super.lastStatus();
    if (status !== undefined) return status;
    const pod = this.pods.pod(this.uid);
    const last = parseTerminationMessage(pod && computeStatus(pod)?.state?.terminated?.message);
    return last && { ...nothingKnown, ...last };
  }
}

/** Of a status, what only a running launcher tells. */
const nothingKnown = {
  sequence: 0,
  qemuPid: undefined,
  accelerator: undefined,
  machineType: undefined,
  qemuVersion: undefined,
  guestAgentConnected: false,
  guest: undefined,
} as const;

const isEnded = (status: ContainerStatus | undefined): boolean => status?.state?.terminated !== undefined;
