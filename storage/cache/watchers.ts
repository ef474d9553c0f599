import type { Attributes, Revision } from '../interface.js';
import type { Change } from './change.js';
import type { Watcher } from './watcher.js';

/** The watchers of one resource by what they watch, so that a change visits only those whom it may concern. */
export class Watchers {
  /** Keyed by namespace and name, each of which may be "any". */
  readonly #scopes = new Map<string, Set<Watcher>>();

  add(watcher: Watcher, position: Revision): void {
    watcher.join(position);
    const scope = scopeOf(watcher.options.namespace, watcher.options.name);
    const members = this.#scopes.get(scope);
    if (members) members.add(watcher);
    else this.#scopes.set(scope, new Set([watcher]));
  }

  delete(watcher: Watcher): void {
    const scope = scopeOf(watcher.options.namespace, watcher.options.name);
    const members = this.#scopes.get(scope);
    if (members?.delete(watcher) && members.size === 0) this.#scopes.delete(scope);
  }

  offer(change: Change): void {
    if (this.#scopes.size === 0 || change.entry === undefined) return;
    const { namespace, name } = change.entry.attributes;
    this.#offerTo(scopeOf(undefined, undefined), change);
    this.#offerTo(scopeOf(undefined, name), change);
    if (namespace === undefined) return;
    this.#offerTo(scopeOf(namespace, undefined), change);
    this.#offerTo(scopeOf(namespace, name), change);
  }

  forEach(visit: (watcher: Watcher) => void): void {
    for (const members of [...this.#scopes.values()]) for (const watcher of [...members]) visit(watcher);
  }

  #offerTo(scope: string, change: Change): void {
    const members = this.#scopes.get(scope);
    if (members) for (const watcher of members) watcher.offer(change);
  }
}

/** Whether an object is in the namespace and has the name that are asked for. */
export function inScope(
  { namespace, name }: Attributes,
  scope: { readonly namespace?: string; readonly name?: string },
): boolean {
  return (
    (scope.namespace === undefined || scope.namespace === namespace) &&
    (scope.name === undefined || scope.name === name)
  );
}

const scopeOf = (namespace: string | undefined, name: string | undefined): string =>
  `${namespace ?? ''}/${name ?? ''}`;
