/** Standalone's namespace controller: empties namespaces that are being deleted, then lets them go. */
import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type ReconcileResult, type Runnable } from '../runtime/controller.js';
import type { DiscoveredKind, Discovery } from '../runtime/discovery.js';
import { isNotFound } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import { namespaces } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { namespaceConditions, type Progress } from './namespace-conditions.js';
import { emptyOfKind, type Remaining } from './namespace-contents.js';

/** The finalizer in `spec.finalizers` that stands for this controller. */
const kubernetesFinalizer = 'kubernetes';
/** What remains may need time to stop. Milliseconds. */
const lookAgainAfter = 1000;

export function createNamespaceController(deps: ControllerDependencies, discovery: Discovery): Runnable {
  return new NamespaceController(deps, discovery).controller;
}

class NamespaceController {
  readonly controller: Controller;
  readonly #namespaces: Informer<Namespace>;

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly discovery: Discovery,
  ) {
    this.#namespaces = deps.informers.get(namespaces);
    this.controller = new Controller({
      name: 'namespace',
      informers: [this.#namespaces],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      logger: deps.logger,
      clock: deps.clock,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const changed = (namespace: Namespace): void => {
      if (isToBeEmptied(namespace)) this.controller.enqueue(namespace.metadata.name);
    };
    this.#namespaces.addHandler({ add: changed, update: (_, namespace) => changed(namespace) });
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined || !isToBeEmptied(namespace)) return undefined;
    const progress = await this.#empty(name, signal);
    const { discoveryFailure, contentFailure, remaining } = progress;
    if (discoveryFailure === undefined && contentFailure === undefined && remaining.length === 0) {
      await this.#finalize(namespace, signal);
      return undefined;
    }
    await this.#report(namespace, progress, signal);
    return { requeueAfter: lookAgainAfter };
  }

  async #empty(name: string, signal: AbortSignal): Promise<Progress> {
    let kinds: readonly DiscoveredKind[];
    try {
      kinds = await this.discovery.kinds(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return { discoveryFailure: messageOf(error), contentFailure: undefined, remaining: [] };
    }
    const remaining: Remaining[] = [];
    let contentFailure: string | undefined;
    for (const kind of kinds.filter(isDeletable)) {
      try {
        const left = await emptyOfKind(this.deps.client, kind, name, signal);
        // What has just been asked to go may be gone: only a look without finding anything proves it.
        if (left.count > 0) remaining.push(left);
      } catch (error) {
        if (signal.aborted) throw error;
        if (!isNotFound(error)) contentFailure ??= `${kind.resource}: ${messageOf(error)}`;
      }
    }
    return { discoveryFailure: undefined, contentFailure, remaining };
  }

  async #report(namespace: Namespace, progress: Progress, signal: AbortSignal): Promise<void> {
    const { status } = namespace;
    const conditions = namespaceConditions(status?.conditions, progress, this.deps.clock.now());
    await patchStatus(this.deps.client, namespaces, namespace, { ...status, conditions }, signal);
  }

  async #finalize(namespace: Namespace, signal: AbortSignal): Promise<void> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((name) => name !== kubernetesFinalizer);
    const body = { ...namespace, spec: { ...namespace.spec, finalizers } };
    try {
      await this.deps.client.post(
        namespaces,
        { name: namespace.metadata.name },
        'PUT',
        'finalize',
        body,
        signal,
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function isToBeEmptied({ metadata, spec }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && spec?.finalizers?.includes(kubernetesFinalizer) === true;
}

function isDeletable({ namespaced, verbs }: DiscoveredKind): boolean {
  return namespaced && verbs.includes('list') && verbs.includes('delete');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
