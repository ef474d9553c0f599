/**
 * Watches the heartbeat of node agents. A node whose agent is silent takes no more VMs, and its VMIs say that nobody knows
 * how they are. They fail, and are started elsewhere as their run strategy says, once nothing of them can run there:
 * their launcher pod has ended or is gone, or (where `nativirt.io/fast-failover` asks for it) their node is fenced.
 *
 * Cordon and drain need nothing here: the first is the scheduler's, the second is `evacuation`.
 */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { annotations, labels, launcherApp, reasons } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { launcherPodName } from '../launcher-pod/metadata.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { kubeVirts, nodes, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { isPodFinal } from '../virtual-machine-instance/pod-state.js';
import { fencingProof, wantsFastFailover } from './fencing.js';
import { Heartbeats } from './heartbeats.js';
import { failedStatus, isOnNode, unknownStatus } from './silent-instances.js';

const component = 'node-controller';
/** A Node that is deleted may be about to register again, with its VMs running. Milliseconds. */
const quarantine = 40_000;
export const instanceNodeIndex = 'node';

export function createNodeController(deps: ControllerDependencies): Runnable {
  return new NodeController(deps).controller;
}

class NodeController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #heartbeats: Heartbeats;
  readonly #nodes: Informer<Node>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #pods: Informer<Pod>;
  readonly #kubeVirts: Informer<KubeVirt>;
  /** Nodes that are silent or gone. */
  readonly #silent = new Set<string>();
  /** When each missing node was first missed, monotonic. */
  readonly #missing = new Map<string, number>();
  /** UIDs of VMIs that were called unknown: once in each silence, as an agent that says otherwise knows better. */
  readonly #told = new Set<string>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder(component);
    this.#heartbeats = new Heartbeats(deps.clock);
    this.#nodes = deps.informers.get(nodes);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#pods = deps.informers.get(pods, { labelSelector: `${labels.app}=${launcherApp}` });
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.#vmis.addIndex(instanceNodeIndex, ({ status }) => present(status?.nodeName));
    this.controller = new Controller({
      name: 'node',
      informers: [this.#nodes, this.#vmis, this.#pods, this.#kubeVirts],
      reconcile: (name, signal) => this.#reconcile(name, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = ({ metadata }: Node): void => {
      this.controller.enqueue(metadata.name);
    };
    this.#nodes.addHandler({ add: enqueue, update: (_, node) => enqueue(node), delete: enqueue });
    const troubled = (name: string | undefined): void => {
      if (name === undefined || name === '') return;
      if (this.#silent.has(name) || this.#nodes.get({ name }) === undefined) this.controller.enqueue(name);
    };
    this.#vmis.addHandler({
      add: ({ status }) => troubled(status?.nodeName),
      update: (_, { status }) => troubled(status?.nodeName),
      delete: ({ metadata }) => this.#told.delete(metadata.uid),
    });
    this.#pods.addHandler({
      update: (_, { spec }) => troubled(spec?.nodeName),
      delete: ({ spec }) => troubled(spec?.nodeName),
    });
    const optedIn = (): void => {
      for (const name of this.#silent) this.controller.enqueue(name);
    };
    this.#kubeVirts.addHandler({ add: optedIn, update: optedIn });
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const node = this.#nodes.get({ name });
    if (node === undefined) return this.#withoutNode(name, signal);
    this.#missing.delete(name);
    if (!runsAgent(node)) return undefined;
    const left = this.#heartbeats.silentIn(node);
    if (left > 0) {
      this.#heard(name);
      return { requeueAfter: left };
    }
    this.#silent.add(name);
    await this.#markUnschedulable(node, signal);
    await this.#settleInstances(name, node, signal);
    return undefined;
  }

  #heard(name: string): void {
    if (!this.#silent.delete(name)) return;
    for (const { metadata } of this.#vmis.byIndex(instanceNodeIndex, name)) this.#told.delete(metadata.uid);
  }

  async #withoutNode(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    this.#heartbeats.forget(name);
    if (this.#vmis.byIndex(instanceNodeIndex, name).length === 0) {
      this.#silent.delete(name);
      this.#missing.delete(name);
      return undefined;
    }
    this.#silent.add(name);
    const now = this.deps.clock.monotonic();
    const since = this.#missing.get(name) ?? now;
    this.#missing.set(name, since);
    if (now - since < quarantine) return { requeueAfter: since + quarantine - now };
    await this.#settleInstances(name, undefined, signal);
    return undefined;
  }

  async #markUnschedulable(node: Node, signal: AbortSignal): Promise<void> {
    if (node.metadata.labels?.[labels.schedulable] !== 'true') return;
    const { uid, resourceVersion, name } = node.metadata;
    const body = { metadata: { uid, resourceVersion, labels: { [labels.schedulable]: 'false' } } };
    await this.deps.client.patch(nodes, { name }, { type: 'merge', body }, undefined, signal);
    const message = `the agent of node ${name} is silent: it takes no more virtual machines`;
    this.#recorder.event(node, 'Warning', reasons.nodeUnresponsive, message);
  }

  async #settleInstances(name: string, node: Node | undefined, signal: AbortSignal): Promise<void> {
    const proof = fencingProof(node);
    for (const vmi of this.#vmis.byIndex(instanceNodeIndex, name)) {
      if (!isOnNode(vmi)) continue;
      try {
        await this.#settle(vmi, name, proof, signal);
      } catch (error) {
        // Somebody wrote it meanwhile: its event brings the node here again.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
  }

  async #settle(
    vmi: VirtualMachineInstance,
    name: string,
    proof: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (proof !== undefined && wantsFastFailover(vmi, this.#kubeVirts.list())) {
      await this.#removePods(vmi, signal);
      await this.#fail(vmi, `node ${name} is lost: ${proof}`, signal);
    } else if (await this.#hasEnded(vmi, signal)) {
      await this.#fail(vmi, `node ${name} is silent, and the launcher pod is gone`, signal);
    } else {
      await this.#tell(vmi, `the agent of node ${name} is silent: how the guest is, is not known`, signal);
    }
  }

  /** No launcher of it runs, as the server says: what an informer does not show may still be on its way. */
  async #hasEnded(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<boolean> {
    const launched = this.#pods.byIndex(controllerIndex, vmi.metadata.uid);
    if (launched.length > 0) return launched.every(isPodFinal);
    const key = { namespace: vmi.metadata.namespace, name: launcherPodName(vmi) };
    try {
      await this.deps.client.get(pods, key, signal);
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }

  async #removePods(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    for (const { metadata } of this.#pods.byIndex(controllerIndex, vmi.metadata.uid)) {
      const params = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } };
      await this.deps.client.delete(pods, metadata, params, signal).catch((error: unknown) => {
        if (!isNotFound(error) && !isConflict(error)) throw error;
      });
    }
  }

  async #fail(vmi: VirtualMachineInstance, message: string, signal: AbortSignal): Promise<void> {
    const status = failedStatus(vmi, message, this.deps.clock.now());
    await patchStatus(this.deps.client, virtualMachineInstances, vmi, status, signal);
    this.#recorder.event(vmi, 'Warning', reasons.nodeUnresponsive, message);
  }

  async #tell(vmi: VirtualMachineInstance, message: string, signal: AbortSignal): Promise<void> {
    if (this.#told.has(vmi.metadata.uid)) return;
    const status = unknownStatus(vmi, message, this.deps.clock.now());
    if (status === undefined) return;
    await patchStatus(this.deps.client, virtualMachineInstances, vmi, status, signal);
    this.#told.add(vmi.metadata.uid);
    this.#recorder.event(vmi, 'Warning', reasons.nodeUnresponsive, message);
  }
}

/** Nodes of a cluster that no agent has ever reported from are none of ours. */
function runsAgent({ metadata }: Node): boolean {
  return (
    metadata.annotations?.[annotations.heartbeat] !== undefined ||
    metadata.labels?.[labels.schedulable] === 'true'
  );
}

const present = (name: string | undefined): string[] => (name === undefined || name === '' ? [] : [name]);
