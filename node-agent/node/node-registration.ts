/** Keeps the Node object true: creates it (standalone), its labels, annotations, status and heartbeat. */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import { nodeAgentAddressAnnotation } from '../../openapi/node-agent.js';
import type { Client } from '../../controllers/runtime/client.js';
import type { Clock } from '../../controllers/runtime/clock.js';
import { isConditionTrue } from '../../controllers/runtime/conditions.js';
import { kubeVirtFrom } from '../../controllers/runtime/configuration.js';
import { Controller, type ReconcileResult } from '../../controllers/runtime/controller.js';
import { isAlreadyExists } from '../../controllers/runtime/errors.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { nodes } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { patchStatus } from '../../controllers/runtime/writes.js';
import { untilAll } from '../until-all.js';
import type { HostFacts } from './host-facts.js';
import {
  heartbeatAnnotation,
  isShuttingDown,
  newNode,
  nodeAnnotations,
  nodeLabels,
  nodeStatus,
  schedulableLabel,
  staleLabels,
  type NodeIdentity,
  type NodeSource,
} from './node-object.js';

export interface NodeRegistrationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly identity: NodeIdentity;
  /** The Node of this name. */
  readonly informer: Informer<Node>;
  readonly kubeVirtInformer: Informer<KubeVirt>;
  /** True where no kubelet makes the Node and reports its status. */
  readonly registerNode: boolean;
  readonly readFacts: () => Promise<HostFacts>;
}

const heartbeatInterval = 60_000;
/** How long a stopping agent may take to say that its node runs no more VMs. */
const farewellTimeout = 2000;

export class NodeRegistration {
  private readonly controller: Controller;
  private leaving = false;

  constructor(private readonly options: NodeRegistrationOptions) {
    const { clock, logger, informer, kubeVirtInformer } = options;
    this.controller = new Controller({
      name: 'node',
      informers: [informer, kubeVirtInformer],
      reconcile: (_key, signal) => this.reconcile(signal),
      clock,
      logger,
      workers: 1,
    });
  }

  /** The machine shuts down, as its Node says: what ends here now does not end by itself. */
  get shutsDown(): boolean {
    return this.leaving || isShuttingDown(this.options.informer.get({ name: this.options.identity.name }));
  }

  /** Says that the machine shuts down. Resolves when the Node does, or after a while. */
  async shutDown(): Promise<void> {
    const { informer, clock, identity } = this.options;
    this.leaving = true;
    this.controller.enqueue(identity.name);
    await untilAll(informer, isShuttingDown, clock, farewellTimeout);
  }

  async run(signal: AbortSignal): Promise<void> {
    const enqueue = (): void => {
      this.controller.enqueue(this.options.identity.name);
    };
    const handler = { add: enqueue, update: enqueue, delete: enqueue };
    const { informer, kubeVirtInformer } = this.options;
    const removals = [informer.addHandler(handler), kubeVirtInformer.addHandler(handler)];
    enqueue();
    try {
      await this.controller.run(signal);
    } finally {
      for (const remove of removals) remove();
      await this.farewell();
    }
  }

  private async reconcile(signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { clock, client, identity, informer, kubeVirtInformer, registerNode } = this.options;
    const facts = await this.options.readFacts();
    const source = {
      identity,
      facts,
      configuration: kubeVirtFrom(kubeVirtInformer)?.spec.configuration ?? {},
    };
    let node = informer.get({ name: identity.name });
    if (node === undefined) {
      if (!registerNode) return { requeueAfter: heartbeatInterval };
      try {
        node = await client.create(nodes, newNode(source, clock.now()), signal);
      } catch (error) {
        // The informer is about to bring it.
        if (isAlreadyExists(error)) return { requeueAfter: 1000 };
        throw error;
      }
    } else {
      node = await this.patchMetadata(node, source, signal);
    }
    if (registerNode && this.isStatusDue(node, source)) {
      const status = nodeStatus(node.status, source, clock.now(), this.leaving);
      await patchStatus(client, nodes, node, status, signal);
    }
    return { requeueAfter: heartbeatInterval };
  }

  private async patchMetadata(node: Node, source: NodeSource, signal: AbortSignal): Promise<Node> {
    const { clock, client, identity } = this.options;
    const { labels = {}, annotations = {} } = node.metadata;
    const wanted = { ...nodeLabels(source), ...(this.leaving ? { [schedulableLabel]: 'false' } : {}) };
    const stale = staleLabels(labels, wanted);
    const current =
      stale.length === 0 &&
      Object.entries(wanted).every(([name, value]) => labels[name] === value) &&
      annotations[nodeAgentAddressAnnotation] === identity.streamAddress &&
      !this.isHeartbeatDue(annotations[heartbeatAnnotation]);
    if (current) return node;
    const removed = Object.fromEntries(stale.map((name) => [name, null]));
    const body = {
      metadata: { labels: { ...removed, ...wanted }, annotations: nodeAnnotations(identity, clock.now()) },
    };
    return client.patch(nodes, { name: identity.name }, { type: 'merge', body }, undefined, signal);
  }

  private isHeartbeatDue(last: string | undefined): boolean {
    const at = last === undefined ? Number.NaN : Date.parse(last);
    const age = this.options.clock.now() - at;
    // Whole seconds are written; a clock that was set back must not silence the heart either.
    return Number.isNaN(age) || age < -heartbeatInterval || age >= heartbeatInterval - 1000;
  }

  /** The status is written when it changes meaning: free disk space, for one, changes all the time. */
  private isStatusDue({ status }: Node, source: NodeSource): boolean {
    const wanted = nodeStatus(status, source, this.options.clock.now(), this.leaving);
    return !isConditionTrue(status?.conditions, 'Ready') || JSON.stringify(wanted) !== JSON.stringify(status);
  }

  /** Nothing new should be placed here while no agent runs. */
  private async farewell(): Promise<void> {
    const { client, clock, logger, identity } = this.options;
    const timeout = new AbortController();
    const cancel = clock.timer(farewellTimeout, () => {
      timeout.abort(new Error('no answer in time'));
    });
    try {
      const body = { metadata: { labels: { [schedulableLabel]: 'false' } } };
      await client.patch(nodes, { name: identity.name }, { type: 'merge', body }, undefined, timeout.signal);
    } catch (error) {
      logger.debug(
        { err: error, node: identity.name },
        'could not mark the node as unschedulable while stopping',
      );
    } finally {
      cancel();
    }
  }
}
