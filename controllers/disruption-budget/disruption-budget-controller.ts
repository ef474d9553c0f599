/** Keeps a PodDisruptionBudget for each VMI that an eviction may not end, so that nobody who drains a node does by mistake. */
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { configurationFrom } from '../configuration.js';
import { labels, reasons } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import { StatusError, isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { Expectations } from '../runtime/expectations.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { kubeVirts, podDisruptionBudgets, virtualMachineInstances } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerOf, createOwned } from '../runtime/writes.js';
import { budgetName, budgetOf, minAvailable, needsBudget } from './budget.js';

const component = 'disruptionbudget-controller';

export function createDisruptionBudgetController(deps: ControllerDependencies): Runnable {
  return new DisruptionBudgetController(deps).controller;
}

class DisruptionBudgetController {
  readonly controller: Controller;
  readonly #recorder: EventRecorder;
  readonly #expectations: Expectations;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #budgets: Informer<PodDisruptionBudget>;
  readonly #kubeVirts: Informer<KubeVirt>;

  constructor(private readonly deps: ControllerDependencies) {
    this.#recorder = deps.recorder(component);
    this.#expectations = new Expectations(deps.clock);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#budgets = deps.informers.get(podDisruptionBudgets, { labelSelector: labels.createdBy });
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.controller = new Controller({
      name: 'disruption-budget',
      informers: [this.#vmis, this.#budgets, this.#kubeVirts],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    this.#listen();
  }

  #listen(): void {
    const enqueue = (vmi: VirtualMachineInstance): void => {
      if (this.#concerns(vmi)) this.controller.enqueue(keyOf(vmi.metadata));
    };
    this.#vmis.addHandler({
      add: enqueue,
      update: (_, vmi) => enqueue(vmi),
      delete: ({ metadata }) => this.#expectations.forget(keyOf(metadata)),
    });
    const changed = (budget: PodDisruptionBudget, observe?: (key: string) => void): void => {
      const owner = controllerOf(budget);
      if (owner?.kind !== virtualMachineInstances.kind) return;
      const key = keyOf({ namespace: budget.metadata.namespace, name: owner.name });
      observe?.(key);
      this.controller.enqueue(key);
    };
    this.#budgets.addHandler({
      add: (budget) =>
        changed(budget, (key) => this.#expectations.creationObserved(key, budget.metadata.name)),
      update: (_, budget) => changed(budget),
      delete: (budget) =>
        changed(budget, (key) => this.#expectations.deletionObserved(key, budget.metadata.uid)),
    });
    const configured = (): void => {
      for (const vmi of this.#vmis.list()) enqueue(vmi);
    };
    this.#kubeVirts.addHandler({ add: configured, update: configured, delete: configured });
  }

  /** Most VMIs neither need a budget nor have one. */
  #concerns(vmi: VirtualMachineInstance): boolean {
    return (
      needsBudget(vmi, configurationFrom(this.#kubeVirts)) ||
      this.#budgets.byIndex(controllerIndex, vmi.metadata.uid).length > 0
    );
  }

  /** The budget of a VMI that is gone goes with it: it is owned. */
  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const vmi = this.#vmis.get(key);
    if (vmi === undefined) return undefined;
    if (!this.#expectations.satisfied(key)) return { requeueAfter: this.#expectations.lapsesIn(key) };
    const existing = this.#budgets.byIndex(controllerIndex, vmi.metadata.uid);
    const needed = needsBudget(vmi, configurationFrom(this.#kubeVirts));
    const [kept, ...others] = needed ? byName(existing, budgetName(vmi)) : [undefined, ...existing];
    for (const budget of others) await this.#delete(key, budget, signal);
    if (!needed) return undefined;
    if (kept === undefined) await this.#create(key, vmi, signal);
    else await this.#adjust(kept, vmi, signal);
    return undefined;
  }

  async #create(key: string, vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void> {
    const { client } = this.deps;
    const budget = budgetOf(vmi);
    this.#expectations.expectCreation(key, budget.metadata.name);
    try {
      const { metadata } = await createOwned(client, podDisruptionBudgets, budget, vmi, signal);
      if (this.#budgets.get(metadata) !== undefined) this.#expectations.creationObserved(key, metadata.name);
    } catch (error) {
      this.#expectations.creationObserved(key, budget.metadata.name);
      if (error instanceof StatusError) {
        const message = `could not create the disruption budget: ${error.message}`;
        this.#recorder.event(vmi, 'Warning', reasons.failedCreate, message);
      }
      throw error;
    }
  }

  async #adjust(
    budget: PodDisruptionBudget,
    vmi: VirtualMachineInstance,
    signal: AbortSignal,
  ): Promise<void> {
    if (budget.spec?.minAvailable === minAvailable(vmi)) return;
    const { uid, resourceVersion } = budget.metadata;
    const body = { metadata: { uid, resourceVersion }, spec: { minAvailable: minAvailable(vmi) } };
    const patch = { type: 'merge', body } as const;
    await this.deps.client.patch(podDisruptionBudgets, budget.metadata, patch, undefined, signal);
  }

  async #delete(key: string, { metadata }: PodDisruptionBudget, signal: AbortSignal): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const { uid } = metadata;
    this.#expectations.expectDeletion(key, uid);
    try {
      await this.deps.client.delete(podDisruptionBudgets, metadata, { preconditions: { uid } }, signal);
    } catch (error) {
      this.#expectations.deletionObserved(key, uid);
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

/** The one of that name first, or undefined in its place. */
function byName(
  budgets: readonly PodDisruptionBudget[],
  name: string,
): [PodDisruptionBudget | undefined, ...PodDisruptionBudget[]] {
  const isWanted = ({ metadata }: PodDisruptionBudget): boolean => metadata.name === name;
  return [budgets.find(isWanted), ...budgets.filter((budget) => !isWanted(budget))];
}
