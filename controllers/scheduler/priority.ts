/** How important a pod is: more important ones may push others from their node. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PriorityClass } from '../../openapi/generated/types/scheduling_v1.js';
import type { Informer } from '../runtime/informer.js';

export class Priorities {
  /** Of pods that name none. */
  #default: PriorityClass | undefined;

  constructor(private readonly classes: Informer<PriorityClass>) {
    const changed = (): void => {
      this.#default = classes.list().find(({ globalDefault }) => globalDefault === true);
    };
    classes.addHandler({ add: changed, update: changed, delete: changed });
  }

  /** A cluster's admission has written the number into the pod. */
  readonly of = (pod: Pod): number => pod.spec?.priority ?? this.#classOf(pod)?.value ?? 0;

  mayPreempt(pod: Pod): boolean {
    const policy = pod.spec?.preemptionPolicy ?? this.#classOf(pod)?.preemptionPolicy;
    return policy !== 'Never';
  }

  #classOf({ spec }: Pod): PriorityClass | undefined {
    const { priorityClassName: name = '' } = spec ?? {};
    return name === '' ? this.#default : this.classes.get({ name });
  }
}
