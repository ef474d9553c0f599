/** The nodes that a pod may be placed on, with their pods: each is made anew only when something there has changed. */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type { Informer } from '../runtime/informer.js';
import { candidateOf, type Candidate, type Cluster } from './cluster.js';

const nodeIndex = 'node';

export class Candidates {
  readonly #known = new Map<string, Candidate>();
  /** Pods that were bound, until the informer shows it; by UID. */
  readonly #assumed = new Map<string, { readonly pod: Pod; readonly node: string }>();

  constructor(
    private readonly nodes: Informer<Node>,
    private readonly pods: Informer<Pod>,
  ) {
    pods.addIndex(nodeIndex, ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
    const podChanged = ({ metadata, spec }: Pod): void => {
      if (spec?.nodeName !== undefined) {
        this.#known.delete(spec.nodeName);
        this.forget(metadata.uid);
      }
    };
    pods.addHandler({
      add: podChanged,
      update: (_, pod) => podChanged(pod),
      delete: (pod) => {
        podChanged(pod);
        this.forget(pod.metadata.uid);
      },
    });
    const nodeChanged = ({ metadata }: Node): void => {
      this.#known.delete(metadata.name);
    };
    nodes.addHandler({ add: nodeChanged, update: (_, node) => nodeChanged(node), delete: nodeChanged });
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  /** The pod is being bound to the node: from now on it takes its place there. */
  assume(pod: Pod, node: string): void {
    this.#assumed.set(pod.metadata.uid, { pod, node });
    this.#known.delete(node);
  }

  forget(uid: string): void {
    const assumed = this.#assumed.get(uid);
    if (assumed === undefined) return;
    this.#assumed.delete(uid);
    this.#known.delete(assumed.node);
  }

  cluster(): Cluster {
    return { candidates: this.nodes.list().map((node) => this.#candidate(node)) };
  }

  #candidate(node: Node): Candidate {
    const { name } = node.metadata;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const assumed = [...this.#assumed.values()].filter((each) => each.node === name);
    const pods = this.pods
      .byIndex(nodeIndex, name)
      .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
    const candidate = candidateOf(node, [...pods, ...assumed.map(({ pod }) => pod)]);
    this.#known.set(name, candidate);
    return candidate;
  }
}
