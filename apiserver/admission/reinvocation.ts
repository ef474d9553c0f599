import { cloneJson } from '../../openapi/clone.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { sameJson } from '../registry/equal.js';

/** Which of those that mutate one write run once more: who may, and has not seen the object as it is. */
export class Reinvocation<Mutator> {
  /** May run again, and have run since the object last changed. */
  readonly #uptodate = new Set<Mutator>();
  /** May run again, and have not seen the object as it is. */
  readonly #outdated = new Set<Mutator>();
  #output: KubernetesObject | undefined;

  ran(
    mutator: Mutator,
    { changed, mayAgain }: { readonly changed: boolean; readonly mayAgain: boolean },
  ): void {
    if (changed) this.#outdate();
    if (mayAgain) this.#uptodate.add(mutator);
  }

  /** Everybody has run once, and others may change the object now. */
  pause(object: KubernetesObject | undefined): void {
    if (this.#uptodate.size > 0) this.#output = cloneJson(object);
  }

  resume(object: KubernetesObject | undefined): void {
    if (!sameJson(this.#output, object)) this.#outdate();
  }

  get isAnyDue(): boolean {
    return this.#outdated.size > 0;
  }

  isDue(mutator: Mutator): boolean {
    return this.#outdated.has(mutator);
  }

  #outdate(): void {
    for (const mutator of this.#uptodate) this.#outdated.add(mutator);
    this.#uptodate.clear();
  }
}
