/**
 * Nodes whose launchers are stubs: everything that a node agent writes is written, through the real functions, but no process is
 * started. A guest runs as soon as it is asked to, and ends as soon as its pod is deleted.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Client } from '../../controllers/runtime/client.js';
import { systemClock, timestamp } from '../../controllers/runtime/clock.js';
import { Controller } from '../../controllers/runtime/controller.js';
import { isConflict, isNotFound } from '../../controllers/runtime/errors.js';
import { ClientEventRecorder } from '../../controllers/runtime/event-recorder.js';
import { controllerIndex, type Informer } from '../../controllers/runtime/informer.js';
import { Informers } from '../../controllers/runtime/informers.js';
import { kubeVirts, nodes, pods, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { keyOf } from '../../controllers/runtime/object-key.js';
import { controllerOf, patchStatus } from '../../controllers/runtime/writes.js';
import type { HostFacts } from '../../node-agent/node/host-facts.js';
import { keepLease } from '../../node-agent/node/node-lease.js';
import { NodeRegistration } from '../../node-agent/node/node-registration.js';
import { podStatus, type PodState } from '../../node-agent/pod-runtime/pod-status.js';
import { domainStatus } from '../../node-agent/testing/domain-status.js';
import { recordTransition } from '../../node-agent/virtual-machine-instance/events.js';
import { nextStatus } from '../../node-agent/virtual-machine-instance/status.js';

const facts: HostFacts = {
  architecture: 'amd64',
  cpus: 256,
  memory: 4 * 1024 ** 4,
  disk: { size: 1024 ** 4, available: 1024 ** 4 },
  hugepages: {},
  cpuVendor: undefined,
  cpuFlags: new Set(),
  kvm: true,
  machineId: 'stub',
  bootId: 'stub',
  kernel: 'stub',
  osImage: 'stub',
};
const address = '127.0.0.1';
const node = { launcherVersion: 'stub', runtimeUser: 107 };
const guest = { accelerator: 'kvm', machineType: 'pc-q35-9.2', qemuVersion: '9.2.0' } as const;

export class StubNode {
  readonly #informers: Informers;
  readonly #recorder: ClientEventRecorder;
  readonly #pods: Informer<Pod>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #podController: Controller;
  readonly #vmiController: Controller;

  constructor(
    private readonly client: Client,
    private readonly name: string,
    private readonly logger: Logger,
  ) {
    this.#informers = new Informers({ client, logger });
    this.#recorder = new ClientEventRecorder({ client, component: 'node-agent', host: name, logger });
    this.#pods = this.#informers.get(pods, { fieldSelector: `spec.nodeName=${name}` });
    this.#vmis = this.#informers.get(virtualMachineInstances, { fieldSelector: `status.nodeName=${name}` });
    this.#podController = new Controller({
      name: 'stub-pods',
      informers: [this.#pods, this.#vmis],
      reconcile: async (key, signal) => {
        await this.#reconcilePod(key, signal);
        return undefined;
      },
      logger,
    });
    this.#vmiController = new Controller({
      name: 'stub-virtual-machine-instances',
      informers: [this.#pods, this.#vmis],
      reconcile: async (key, signal) => {
        await this.#reconcileInstance(key, signal);
        return undefined;
      },
      logger,
    });
    this.#listen();
  }

  /** Until the signal aborts: then the node is silent, and says nothing of it. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, logger, name } = this;
    const clock = systemClock;
    const registration = new NodeRegistration({
      client,
      clock,
      logger,
      informer: this.#informers.get(nodes, { fieldSelector: `metadata.name=${name}` }),
      kubeVirtInformer: this.#informers.get(kubeVirts),
      registerNode: true,
      identity: { name, address, streamAddress: `${address}:1`, version: 'stub' },
      readFacts: () => Promise.resolve(facts),
    });
    await Promise.all([
      this.#informers.run(signal),
      this.#recorder.run(signal),
      this.#podController.run(signal),
      this.#vmiController.run(signal),
      registration.run(signal),
      keepLease({ client, clock, logger, nodeName: name }, signal),
    ]);
  }

  #listen(): void {
    const podChanged = (pod: Pod): void => {
      this.#podController.enqueue(keyOf(pod.metadata));
      const owner = controllerOf(pod);
      if (owner !== undefined && pod.metadata.deletionTimestamp !== undefined)
        this.#vmiController.enqueue(keyOf({ namespace: pod.metadata.namespace, name: owner.name }));
    };
    this.#pods.addHandler({
      add: podChanged,
      update: (_before, pod) => podChanged(pod),
      delete: podChanged,
    });
    const instanceChanged = (vmi: VirtualMachineInstance): void => {
      this.#vmiController.enqueue(keyOf(vmi.metadata));
    };
    this.#vmis.addHandler({ add: instanceChanged, update: (_before, vmi) => instanceChanged(vmi) });
  }

  async #reconcilePod(key: string, signal: AbortSignal): Promise<void> {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    const { uid, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) {
      await gone(
        this.client.delete(pods, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid } }, signal),
      );
      return;
    }
    if (pod.status?.phase === 'Running' && !isMarkedUnready(pod)) return;
    const now = timestamp(systemClock.now());
    const state: PodState = { kind: 'Running', startedAt: now, images: new Map(), ready: true };
    const body = { metadata: { uid }, status: podStatus(pod, state, { now, startTime: now, address }) };
    await gone(this.client.patch(pods, pod.metadata, { type: 'merge', body }, 'status', signal));
  }

  async #reconcileInstance(key: string, signal: AbortSignal): Promise<void> {
    const vmi = this.#vmis.get(key);
    const phase = vmi?.status?.phase;
    if (vmi === undefined || (phase !== 'Scheduled' && phase !== 'Running')) return;
    const [pod] = this.#pods.byIndex(controllerIndex, vmi.metadata.uid);
    const running = pod !== undefined && pod.metadata.deletionTimestamp === undefined;
    const domain = domainStatus({ ...guest, state: running ? 'Running' : 'Shutoff' });
    const wanted = nextStatus({
      vmi,
      domain,
      failure: undefined,
      now: systemClock.now(),
      node,
      part: {},
      ready: true,
    });
    const after = await gone(patchStatus(this.client, virtualMachineInstances, vmi, wanted, signal));
    if (after !== undefined)
      recordTransition(this.#recorder, { before: vmi, after, domain, failure: undefined });
  }
}

/** What is gone, or has changed, needs no more of us: its event is on its way. */
async function gone<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return undefined;
    throw error;
  }
}

function isMarkedUnready({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is !== 'True');
}
