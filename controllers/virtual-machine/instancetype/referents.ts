/** Instancetypes, preferences and their copies, as informers show them. */
import type { ControllerRevision } from '../../../openapi/generated/types/apps_v1.js';
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import {
  findReferredKind,
  type ReferredKind,
  type Referent,
  type Subject,
} from '../../../openapi/instancetype/kinds.js';
import { matcherOf, statusRefOf, type ReferentSource } from '../../../openapi/instancetype/reference.js';
import { revisionLabels } from '../../../openapi/instancetype/revision.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { ControllerDependencies } from '../../dependencies.js';
import type { Client } from '../../runtime/client.js';
import { isNotFound } from '../../runtime/errors.js';
import type { Informer } from '../../runtime/informer.js';
import {
  controllerRevisions,
  virtualMachineClusterInstancetypes,
  virtualMachineClusterPreferences,
  virtualMachineInstancetypes,
  virtualMachinePreferences,
} from '../../runtime/kinds.js';

export const subjects = ['instancetype', 'preference'] as const satisfies readonly Subject[];

/** Index of VMs: what they refer to. */
export const referentIndex = 'referent';

const indexValue = (resource: string, namespace: string | undefined, name: string): string =>
  [resource, namespace ?? '', name].join('/');

/** Everything that a VM may wait for: index values. */
export function referentsOf(vm: VirtualMachine): string[] {
  const { namespace } = vm.metadata;
  return subjects.flatMap((subject) => {
    const matcher = matcherOf(vm, subject);
    if (matcher === undefined) return [];
    const kind = findReferredKind(subject, matcher.kind);
    const copies = [matcher.revisionName, statusRefOf(vm, subject)?.controllerRevisionRef?.name];
    return [
      ...(kind === undefined || matcher.name === undefined
        ? []
        : [indexValue(kind.resource, kind.namespaced ? namespace : undefined, matcher.name)]),
      ...copies.flatMap((name) =>
        name === undefined ? [] : [indexValue(controllerRevisions.resource, namespace, name)],
      ),
    ];
  });
}

export class InformedReferents implements ReferentSource {
  readonly informers: readonly Informer<KubernetesObject>[];
  readonly #client: Client;
  readonly #revisions: Informer<ControllerRevision>;
  readonly #byResource: ReadonlyMap<string, Informer<KubernetesObject>>;

  constructor({ client, informers }: Pick<ControllerDependencies, 'client' | 'informers'>) {
    this.#client = client;
    // Other controllers keep revisions too, of which there may be many.
    this.#revisions = informers.get(controllerRevisions, { labelSelector: revisionLabels.name });
    const objects = [
      informers.get(virtualMachineInstancetypes),
      informers.get(virtualMachineClusterInstancetypes),
      informers.get(virtualMachinePreferences),
      informers.get(virtualMachineClusterPreferences),
    ];
    this.#byResource = new Map(objects.map((each) => [each.kind.resource, each]));
    this.informers = [...objects, this.#revisions];
  }

  /** Calls back with the index value of each object that comes or changes. */
  onChange(callback: (value: string) => void): void {
    for (const informer of this.informers) {
      const changed = ({ metadata: { namespace, name } }: KubernetesObject): void =>
        callback(indexValue(informer.kind.resource, namespace, name));
      informer.addHandler({ add: changed, update: (_, object) => changed(object) });
    }
  }

  async revision(namespace: string | undefined, name: string): Promise<ControllerRevision | undefined> {
    const known = this.#revisions.get({ namespace, name });
    if (known !== undefined) return known;
    // Just made, or without labels.
    try {
      return await this.#client.get(controllerRevisions, { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  object<S extends Subject>(
    { resource }: ReferredKind,
    namespace: string | undefined,
    name: string,
  ): Promise<Referent<S> | undefined> {
    // The resource says which subject its objects are.
    return Promise.resolve(
      this.#byResource.get(resource)?.get({ namespace, name }) as Referent<S> | undefined,
    );
  }
}
