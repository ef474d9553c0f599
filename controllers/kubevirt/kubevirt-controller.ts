/** The KubeVirt object of an installation: makes it once, and tells in its status whether all parts are there. */
import type { KubeVirt, KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { kubeVirtFrom } from '../runtime/configuration.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type Runnable } from '../runtime/controller.js';
import { isAlreadyExists } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import { kubeVirts } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';
import { nextStatus } from './status.js';
import { daemonSets, deployments, installationSelector, type Workload } from './workloads.js';

export interface Installation {
  readonly namespace: string;
  /** What is installed, as the status says it. */
  readonly version: string;
  /** Of the object that is made; afterwards the object counts. */
  readonly configuration: KubeVirtConfiguration;
}

/** There is one object, so there is one key. */
const key = 'kubevirt';

export function createKubeVirtController(deps: ControllerDependencies, installation: Installation): Runnable {
  return new KubeVirtController(deps, installation).controller;
}

class KubeVirtController {
  readonly controller: Controller;
  readonly #kubeVirts: Informer<KubeVirt>;
  readonly #workloads: readonly Informer<Workload>[];

  constructor(
    private readonly deps: ControllerDependencies,
    private readonly installation: Installation,
  ) {
    const scope = { namespace: installation.namespace, labelSelector: installationSelector };
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.#workloads = [deps.informers.get(deployments, scope), deps.informers.get(daemonSets, scope)];
    this.controller = new Controller({
      name: 'kubevirt',
      informers: [this.#kubeVirts, ...this.#workloads],
      reconcile: async (_key, signal) => {
        await this.#reconcile(signal);
        return undefined;
      },
      logger: deps.logger,
      clock: deps.clock,
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const changed = (): void => {
      this.controller.enqueue(key);
    };
    for (const informer of [this.#kubeVirts, ...this.#workloads])
      informer.addHandler({ add: changed, update: changed, delete: changed });
    changed();
  }

  async #reconcile(signal: AbortSignal): Promise<void> {
    const current = kubeVirtFrom(this.#kubeVirts);
    if (current === undefined) {
      await this.#create(signal);
      return;
    }
    const workloads = this.#workloads.flatMap((informer) => informer.list());
    const wanted = nextStatus(current, workloads, this.installation.version, this.deps.clock.now());
    await patchStatus(this.deps.client, kubeVirts, current, wanted, signal);
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { namespace, configuration } = this.installation;
    try {
      await this.deps.client.create(
        kubeVirts,
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'KubeVirt',
          metadata: { namespace, name: 'kubevirt' },
          spec: { configuration },
        },
        signal,
      );
    } catch (error) {
      // The informer will show it.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
