/** Keeps the status of PodDisruptionBudgets: how many of their pods an eviction may take now. Evictions count it down themselves. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { Informer } from '../runtime/informer.js';
import { podDisruptionBudgets, pods } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { patchStatus } from '../runtime/writes.js';
import { reviewBudget } from './budget-status.js';
import { PodBudgets } from './pod-budgets.js';

export function createDisruptionController(deps: ControllerDependencies): Runnable {
  return new DisruptionController(deps).controller;
}

class DisruptionController {
  readonly controller: Controller;
  readonly #budgets: Informer<PodDisruptionBudget>;
  readonly #selection: PodBudgets;

  constructor(private readonly deps: ControllerDependencies) {
    const allPods = deps.informers.get(pods);
    this.#budgets = deps.informers.get(podDisruptionBudgets);
    const selection = new PodBudgets(allPods, this.#budgets);
    this.#selection = selection;
    this.controller = new Controller({
      name: 'disruption',
      informers: [allPods, this.#budgets],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const enqueue = ({ metadata }: PodDisruptionBudget): void => {
      this.controller.enqueue(keyOf(metadata));
    };
    const changed = (pod: Pod): void => {
      for (const budget of selection.budgetsOf(pod)) enqueue(budget);
    };
    this.#budgets.addHandler({ add: enqueue, update: (_, budget) => enqueue(budget) });
    allPods.addHandler({
      add: changed,
      update: (before, pod) => {
        changed(before);
        changed(pod);
      },
      delete: changed,
    });
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const budget = this.#budgets.get(key);
    if (budget === undefined) return undefined;
    const { client, clock } = this.deps;
    const { status, lapsesIn } = reviewBudget(budget, this.#selection.podsOf(budget), clock.now());
    await patchStatus(client, podDisruptionBudgets, budget, status, signal);
    return lapsesIn === undefined ? undefined : { requeueAfter: lapsesIn };
  }
}
