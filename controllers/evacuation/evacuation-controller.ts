/**
 * Empties nodes: VMIs that an eviction has marked (`status.evacuationNodeName`), and all that may migrate where a node carries
 * the drain taint. It orders their migrations (VirtualMachineInstanceMigration objects), as many at a time as the cluster and
 * the node allow; whoever carries migrations out does the rest.
 *
 * A VMI that can not migrate is never shut down by it. Evictions do that, where its strategy lets them (`None`,
 * `LiveMigrateIfPossible`); one under `LiveMigrate` holds its node, and an event says so.
 */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirt,
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { configurationFrom } from '../configuration.js';
import { labels, launcherApp, reasons } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { isMigratable } from '../eviction-strategy.js';
import { isMigrationFinal } from '../migrations.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';

import type { EventRecorder } from '../runtime/event-recorder.js';
import type { Informer } from '../runtime/informer.js';
import {
  kubeVirts,
  nodes,
  pods,
  virtualMachineInstanceMigrations,
  virtualMachineInstances,
} from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { createOwned } from '../runtime/writes.js';
import { evacuationMigration, retryIn } from './evacuation-migration.js';
import { isDraining, mustLeave } from './leaving.js';
import { EvictionMarks } from './marks.js';
import { MigrationQueue, instanceOf } from './migration-queue.js';

const component = 'evacuation-controller';
const nodeIndex = 'node';

export function createEvacuationController(deps: ControllerDependencies): Runnable {
  return new EvacuationController(deps).controller;
}

class EvacuationController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #marks: EvictionMarks;
  readonly #queue: MigrationQueue;
  readonly #nodes: Informer<Node>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #migrations: Informer<VirtualMachineInstanceMigration>;
  readonly #kubeVirts: Informer<KubeVirt>;
  /** Nodes with VMIs that wait for a migration to end. */
  readonly #waiting = new Set<string>();
  /** UIDs of VMIs that were said to hold their node. */
  readonly #holding = new Set<string>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder(component);
    this.#nodes = deps.informers.get(nodes);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#migrations = deps.informers.get(virtualMachineInstanceMigrations);
    this.#kubeVirts = deps.informers.get(kubeVirts);
    const launchers: Informer<Pod> = deps.informers.get(pods, {
      labelSelector: `${labels.app}=${launcherApp}`,
    });
    this.#marks = new EvictionMarks(deps.client, launchers, deps.clock);
    this.#queue = new MigrationQueue(this.#migrations);
    this.#vmis.addIndex(nodeIndex, ({ status }) => nodesOf(status));
    this.controller = new Controller({
      name: 'evacuation',
      informers: [this.#nodes, this.#vmis, this.#migrations, this.#kubeVirts, launchers],
      reconcile: (name, signal) => this.#reconcile(name, signal),
      logger: deps.logger,
      clock: deps.clock,
      // One at a time: the limits count what was begun before.
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    this.#nodes.addHandler({
      add: (node) => this.#nodeChanged(undefined, node),
      update: (before, node) => this.#nodeChanged(before, node),
    });
    this.#vmis.addHandler({
      add: (vmi) => this.#instanceChanged(vmi),
      update: (_, vmi) => this.#instanceChanged(vmi),
      delete: ({ metadata }) => this.#holding.delete(metadata.uid),
    });
    const ended = (migration: VirtualMachineInstanceMigration): void => {
      for (const node of this.#waiting) this.controller.enqueue(node);
      for (const node of nodesOf(this.#vmis.get(instanceOf(migration))?.status))
        this.controller.enqueue(node);
    };
    this.#migrations.addHandler({
      update: (_, migration) => {
        if (isMigrationFinal(migration)) ended(migration);
      },
      delete: ended,
    });
    const configured = (): void => {
      for (const node of this.#nodes.list()) this.#nodeChanged(undefined, node);
    };
    this.#kubeVirts.addHandler({ add: configured, update: configured, delete: configured });
  }

  /** Heartbeats change nodes all the time. */
  #nodeChanged(before: Node | undefined, node: Node): void {
    const configuration = configurationFrom(this.#kubeVirts);
    if (isDraining(node, configuration) && !isDraining(before, configuration))
      this.controller.enqueue(node.metadata.name);
  }

  #instanceChanged({ status, metadata }: VirtualMachineInstance): void {
    const { nodeName = '', evacuationNodeName = '' } = status ?? {};
    const marked = evacuationNodeName !== '' || this.#marks.isTold(metadata, status);
    const draining = isDraining(this.#nodes.get({ name: nodeName }), configurationFrom(this.#kubeVirts));
    if (nodeName !== '' && (marked || draining)) this.controller.enqueue(nodeName);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const configuration = configurationFrom(this.#kubeVirts);
    const draining = isDraining(this.#nodes.get({ name }), configuration);
    const instances = this.#vmis.byIndex(nodeIndex, name).sort(byAge);
    const leaving: VirtualMachineInstance[] = [];
    for (const vmi of instances) {
      await this.#marks.update(vmi, signal);
      if (!mustLeave(vmi, draining, configuration) || this.#queue.isMoving(keyOf(vmi.metadata))) continue;
      if (isMigratable(vmi)) leaving.push(vmi);
      else this.#tellHolding(vmi, name);
    }
    return this.#move(leaving, instances, name, configuration, signal);
  }

  async #move(
    leaving: readonly VirtualMachineInstance[],
    instances: readonly VirtualMachineInstance[],
    node: string,
    configuration: KubeVirtConfiguration,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const keys = new Set(instances.map(({ metadata }) => keyOf(metadata)));
    const now = this.deps.clock.now();
    const waits = leaving.map((vmi) => ({
      vmi,
      wait: retryIn(this.#queue.finished(keyOf(vmi.metadata)), node, now),
    }));
    const due = waits.filter(({ wait }) => wait === 0);
    const begun = due.slice(0, this.#queue.free(keys, configuration));
    for (const { vmi } of begun) await this.#begin(vmi, node, signal);
    if (begun.length < due.length) this.#waiting.add(node);
    else this.#waiting.delete(node);
    const soonest = Math.min(...waits.filter(({ wait }) => wait > 0).map(({ wait }) => wait));
    return Number.isFinite(soonest) ? { requeueAfter: soonest } : undefined;
  }

  async #begin(vmi: VirtualMachineInstance, node: string, signal: AbortSignal): Promise<void> {
    const instance = keyOf(vmi.metadata);
    const migration = evacuationMigration(vmi, node, this.#queue.finished(instance));
    const key = keyOf(migration.metadata);
    this.#queue.begin(key, instance);
    try {
      await createOwned(this.deps.client, virtualMachineInstanceMigrations, migration, vmi, signal);
    } catch (error) {
      this.#queue.settle(key, false);
      throw error;
    }
    this.#queue.settle(key, true);
    const message = `created migration ${migration.metadata.name} to leave node ${node}`;
    this.#recorder.event(vmi, 'Normal', reasons.successfulCreate, message);
  }

  #tellHolding(vmi: VirtualMachineInstance, node: string): void {
    if (this.#holding.has(vmi.metadata.uid)) return;
    this.#holding.add(vmi.metadata.uid);
    const message = `it has to leave node ${node} and can not migrate: it stays until it is stopped`;
    this.#recorder.event(vmi, 'Warning', 'EvacuationBlocked', message);
  }
}

function nodesOf(status: VirtualMachineInstance['status']): string[] {
  return status?.nodeName === undefined || status.nodeName === '' ? [] : [status.nodeName];
}

function byAge({ metadata: a }: VirtualMachineInstance, { metadata: b }: VirtualMachineInstance): number {
  return a.creationTimestamp === b.creationTimestamp
    ? keyOf(a).localeCompare(keyOf(b))
    : a.creationTimestamp.localeCompare(b.creationTimestamp);
}
