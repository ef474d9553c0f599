/** The designs that the VMs of pools were made from, kept as ControllerRevisions for as long as a VM or an instance shows one. */
import { isDeepStrictEqual } from 'node:util';
import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import type {
  VirtualMachinePool,
  VirtualMachinePoolSpec,
} from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import { labels } from '../constants.js';
import type { Client } from '../runtime/client.js';
import { isAlreadyExists, isNotFound } from '../runtime/errors.js';
import type { Expectations } from '../runtime/expectations.js';
import { controllerIndex, type Informer } from '../runtime/informer.js';
import { controllerRevisions } from '../runtime/kinds.js';
import { keyOf } from '../runtime/object-key.js';
import { controllerReference, isControlledBy } from '../runtime/writes.js';
import { designOf, type Design, type NamedDesign } from './machine.js';

/** Other controllers keep revisions too, of which there may be many. */
export const revisionSelector = labels.poolRevision;

export class Revisions {
  constructor(
    private readonly client: Client,
    private readonly informer: Informer<ControllerRevision>,
    private readonly expectations: Expectations,
  ) {}

  find(pool: VirtualMachinePool, name: string | undefined): NamedDesign | undefined {
    if (name === undefined) return undefined;
    const revision = this.informer.get({ namespace: pool.metadata.namespace, name });
    if (revision === undefined || !isControlledBy(revision, pool)) return undefined;
    const design = read(revision);
    return design === undefined ? undefined : { name, design };
  }

  /** The revision of the pool as it is. A pool that goes back to an earlier design gets the earlier revision back. */
  async current(pool: VirtualMachinePool, signal: AbortSignal): Promise<NamedDesign> {
    const design = designOf(pool.spec);
    const [same] = this.informer
      .byIndex(controllerIndex, pool.metadata.uid)
      .filter((revision) => isDeepStrictEqual(read(revision), design))
      .sort((a, b) => b.revision - a.revision);
    return { name: same?.metadata.name ?? (await this.#create(pool, design, signal)), design };
  }

  /** Deletes the revisions of the pool that are not `used`. */
  async prune(pool: VirtualMachinePool, used: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    const key = keyOf(pool.metadata);
    for (const { metadata } of this.informer.byIndex(controllerIndex, pool.metadata.uid)) {
      const { uid, name, deletionTimestamp } = metadata;
      if (used.has(name) || deletionTimestamp !== undefined) continue;
      this.expectations.expectDeletion(key, uid);
      try {
        await this.client.delete(controllerRevisions, metadata, { preconditions: { uid } }, signal);
      } catch (error) {
        this.expectations.deletionObserved(key, uid);
        if (!isNotFound(error)) throw error;
      }
    }
  }

  async #create(pool: VirtualMachinePool, design: Design, signal: AbortSignal): Promise<string> {
    const { namespace, generation = 0 } = pool.metadata;
    const name = `${pool.metadata.name}-${generation}`;
    const key = keyOf(pool.metadata);
    this.expectations.expectCreation(key, name);
    try {
      await this.client.create(
        controllerRevisions,
        {
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          metadata: {
            name,
            ...(namespace === undefined ? {} : { namespace }),
            labels: { [labels.poolRevision]: name },
            ownerReferences: [controllerReference(pool)],
          },
          data: { ...pool.spec },
          revision: generation,
        },
        signal,
      );
    } catch (error) {
      this.expectations.creationObserved(key, name);
      if (!isAlreadyExists(error)) throw error;
      const existing = await this.client.get(controllerRevisions, { namespace, name }, signal);
      // One of a pool of the same name that is gone will soon go too.
      if (!isControlledBy(existing, pool) || !isDeepStrictEqual(read(existing), design)) throw error;
    }
    return name;
  }
}

/** Undefined if it holds no pool. */
function read({ data = {} }: ControllerRevision): Design | undefined {
  const { virtualMachineTemplate } = data;
  if (typeof virtualMachineTemplate !== 'object' || virtualMachineTemplate === null) return undefined;
  // Revisions of pools are made of admitted pools.
  return designOf(data as unknown as VirtualMachinePoolSpec);
}
