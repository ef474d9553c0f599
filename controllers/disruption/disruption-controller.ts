/** Keeps the status of PodDisruptionBudgets: how many of their pods an eviction may take now. Evictions count it down themselves. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import { labels as labelNames } from '../constants.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { Informer } from '../runtime/informer.js';
import { podDisruptionBudgets, pods } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { patchStatus } from '../runtime/writes.js';
import { reviewBudget } from './budget-status.js';

const bucketIndex = 'bucket';

export function createDisruptionController(deps: ControllerDependencies): Runnable {
  return new DisruptionController(deps).controller;
}

class DisruptionController {
  readonly controller: Controller;
  readonly #pods: Informer<Pod>;
  readonly #budgets: Informer<PodDisruptionBudget>;

  constructor(private readonly deps: ControllerDependencies) {
    this.#pods = deps.informers.get(pods);
    this.#budgets = deps.informers.get(podDisruptionBudgets);
    this.#pods.addIndex(bucketIndex, bucketsOfPod);
    this.#budgets.addIndex(bucketIndex, (budget) => [bucketOf(budget)]);
    this.controller = new Controller({
      name: 'disruption',
      informers: [this.#pods, this.#budgets],
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
      for (const budget of this.#budgetsOf(pod)) enqueue(budget);
    };
    this.#budgets.addHandler({ add: enqueue, update: (_, budget) => enqueue(budget) });
    this.#pods.addHandler({
      add: changed,
      update: (before, pod) => {
        changed(before);
        changed(pod);
      },
      delete: changed,
    });
  }

  #budgetsOf(pod: Pod): PodDisruptionBudget[] {
    return bucketsOfPod(pod)
      .flatMap((bucket) => this.#budgets.byIndex(bucketIndex, bucket))
      .filter((budget) => selects(budget, pod));
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const budget = this.#budgets.get(key);
    if (budget === undefined) return undefined;
    const selected = this.#pods.byIndex(bucketIndex, bucketOf(budget)).filter((pod) => selects(budget, pod));
    const { client, clock } = this.deps;
    const { status, lapsesIn } = reviewBudget(budget, selected, clock.now());
    await patchStatus(client, podDisruptionBudgets, budget, status, signal);
    return lapsesIn === undefined ? undefined : { requeueAfter: lapsesIn };
  }
}

function selects({ spec }: PodDisruptionBudget, { metadata }: Pod): boolean {
  return compileLabelSelector(spec?.selector).matches(metadata.labels);
}

/**
 * A budget and the pods that it may select share a bucket: their namespace; for the budget of one VMI, that VMI. With a budget for each
 * of ten thousand, nobody looks through ten thousand at every event.
 */
function bucketOf({ metadata, spec }: PodDisruptionBudget): string {
  return bucket(metadata.namespace, spec?.selector?.matchLabels?.[labelNames.createdBy]);
}

function bucketsOfPod({ metadata }: Pod): string[] {
  const instance = metadata.labels?.[labelNames.createdBy];
  const { namespace } = metadata;
  return [bucket(namespace, undefined), ...(instance === undefined ? [] : [bucket(namespace, instance)])];
}

function bucket(namespace: string | undefined, instance: string | undefined): string {
  return `${namespace ?? ''}/${instance ?? ''}`;
}
