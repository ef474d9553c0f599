/** Labels nodes with the frequencies of the time stamp counter that guests can have there (`scheduling.node.kubevirt.io/…`). */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { configurationFrom } from '../configuration.js';
import type { ControllerDependencies } from '../dependencies.js';
import { Controller, type Runnable } from '../runtime/controller.js';
import type { Informer } from '../runtime/informer.js';
import { kubeVirts, nodes, virtualMachineInstances } from '../runtime/kinds.js';
import { frequencyOf, guestFrequency, labelChanges } from './tsc-frequency.js';

/** By the frequency that an instance was given. */
const frequencyIndex = 'tsc-frequency';
/** There is one key: what one node has counts for all. */
const cluster = 'cluster';

export function createTopologyController(deps: ControllerDependencies): Runnable {
  return new TopologyController(deps).controller;
}

class TopologyController {
  readonly controller: Controller;
  readonly #nodes: Informer<Node>;
  readonly #vmis: Informer<VirtualMachineInstance>;
  readonly #kubeVirts: Informer<KubeVirt>;
  /** Frequencies that instances have been seen with. */
  readonly #given = new Set<number>();

  constructor(private readonly deps: ControllerDependencies) {
    this.#nodes = deps.informers.get(nodes);
    this.#vmis = deps.informers.get(virtualMachineInstances);
    this.#kubeVirts = deps.informers.get(kubeVirts);
    this.#vmis.addIndex(frequencyIndex, (vmi) => hintOf(vmi).map(String));
    this.controller = new Controller({
      name: 'topology',
      informers: [this.#nodes, this.#vmis, this.#kubeVirts],
      reconcile: (_key, signal) => this.#label(signal),
      logger: deps.logger,
      clock: deps.clock,
      workers: 1,
      limits: deps.limits,
      metrics: deps.metrics,
    });
    const changed = (): void => {
      this.controller.enqueue(cluster);
    };
    this.#kubeVirts.addHandler({ add: changed, update: changed, delete: changed });
    const labelsOf = ({ metadata }: Node): string => JSON.stringify(metadata.labels);
    this.#nodes.addHandler({
      add: changed,
      // Heartbeats come all the time.
      update: (before, node) => {
        if (labelsOf(before) !== labelsOf(node)) changed();
      },
      delete: changed,
    });
    const given = (vmi: VirtualMachineInstance): void => {
      for (const frequency of hintOf(vmi)) {
        if (!this.#given.has(frequency)) changed();
        this.#given.add(frequency);
      }
    };
    this.#vmis.addHandler({
      add: given,
      update: (_, vmi) => given(vmi),
      delete: (vmi) => {
        if (hintOf(vmi).length > 0) changed();
      },
    });
  }

  async #label(signal: AbortSignal): Promise<undefined> {
    const all = this.#nodes.list();
    const next = guestFrequency(all, configurationFrom(this.#kubeVirts));
    for (const frequency of this.#given)
      if (this.#vmis.byIndex(frequencyIndex, String(frequency)).length === 0) this.#given.delete(frequency);
    const wanted = new Set([...this.#given, ...(next === undefined ? [] : [next])]);
    for (const node of all) {
      const changes = labelChanges(node, frequencyOf(node) === undefined ? [] : wanted);
      if (changes === undefined) continue;
      const { uid, name } = node.metadata;
      const body = { metadata: { uid, labels: changes } };
      await this.deps.client.patch(nodes, { name }, { type: 'merge', body }, undefined, signal);
    }
    return undefined;
  }
}

const hintOf = ({ status }: VirtualMachineInstance): number[] => {
  const { tscFrequency } = status?.topologyHints ?? {};
  return tscFrequency === undefined ? [] : [tscFrequency];
};
