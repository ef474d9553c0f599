/** Which budgets select which pods. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import { labels } from '../constants.js';
import type { Informer } from '../runtime/informer.js';

const bucketIndex = 'budget-bucket';

export class PodBudgets {
  constructor(
    private readonly pods: Informer<Pod>,
    private readonly budgets: Informer<PodDisruptionBudget>,
  ) {
    pods.addIndex(bucketIndex, bucketsOfPod);
    budgets.addIndex(bucketIndex, (budget) => [bucketOf(budget)]);
  }

  budgetsOf(pod: Pod): PodDisruptionBudget[] {
    return bucketsOfPod(pod)
      .flatMap((bucket) => this.budgets.byIndex(bucketIndex, bucket))
      .filter((budget) => selects(budget, pod));
  }

  podsOf(budget: PodDisruptionBudget): Pod[] {
    return this.pods.byIndex(bucketIndex, bucketOf(budget)).filter((pod) => selects(budget, pod));
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
  return bucket(metadata.namespace, spec?.selector?.matchLabels?.[labels.createdBy]);
}

function bucketsOfPod({ metadata }: Pod): string[] {
  const instance = metadata.labels?.[labels.createdBy];
  const { namespace } = metadata;
  return [bucket(namespace, undefined), ...(instance === undefined ? [] : [bucket(namespace, instance)])];
}

function bucket(namespace: string | undefined, instance: string | undefined): string {
  return `${namespace ?? ''}/${instance ?? ''}`;
}
