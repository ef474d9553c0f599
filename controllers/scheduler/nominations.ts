/** Pods that others were removed for: nobody who matters less may take their place. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Informer } from '../runtime/informer.js';
import { candidateOf, type Cluster } from './cluster.js';
import type { Priorities } from './priority.js';

const podNodeIndex = 'node';

export class Nominations {
  /** By UID. */
  readonly #nominated = new Map<string, Pod>();

  constructor(
    private readonly pods: Informer<Pod>,
    private readonly priorities: Priorities,
  ) {
    pods.addIndex(podNodeIndex, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
    const changed = (pod: Pod): void => {
      const waits = pod.spec?.nodeName === undefined && pod.metadata.deletionTimestamp === undefined;
      if (waits && nodeOf(pod) !== '') this.#nominated.set(pod.metadata.uid, pod);
      else this.#nominated.delete(pod.metadata.uid);
    };
    pods.addHandler({
      add: changed,
      update: (_, pod) => changed(pod),
      delete: ({ metadata }) => this.#nominated.delete(metadata.uid),
    });
  }

  /** The cluster as this pod may use it. */
  reserve(cluster: Cluster, pod: Pod): Cluster {
    const priority = this.priorities.of(pod);
    const ahead = [...this.#nominated.values()].filter(
      (each) => each.metadata.uid !== pod.metadata.uid && this.priorities.of(each) >= priority,
    );
    if (ahead.length === 0) return cluster;
    const candidates = cluster.candidates.map((candidate) => {
      const here = ahead.filter((each) => nodeOf(each) === candidate.node.metadata.name);
      return here.length === 0 ? candidate : candidateOf(candidate.node, [...candidate.pods, ...here]);
    });
    return { ...cluster, candidates };
  }

  /** Pods that were removed for this one are still on their way out. */
  isRoomBeingMade(pod: Pod): boolean {
    const node = nodeOf(pod);
    if (node === '') return false;
    const priority = this.priorities.of(pod);
    return this.pods
      .byIndex(podNodeIndex, node)
      .some((each) => each.metadata.deletionTimestamp !== undefined && this.priorities.of(each) < priority);
  }
}

const nodeOf = ({ status }: Pod): string => status?.nominatedNodeName ?? '';
