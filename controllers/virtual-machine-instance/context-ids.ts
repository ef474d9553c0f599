/**
 * VSOCK context ids, by which hosts and guests find each other: no two VMIs have the same. An id is drawn by chance, so that one that has
 * just become free is hardly ever the next, and belongs to its VMI until that is gone.
 */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from '../runtime/informer.js';

/** 0, 1 and 2 are the hypervisor, the machine itself and the host; the last means any. */
const first = 3;
const count = 2 ** 32 - 1 - first;
const index = 'context-id';

export class ContextIds {
  /** Given by this process, by UID: the informer may not show them yet. */
  readonly #given = new Map<string, number>();
  readonly #taken = new Set<number>();

  constructor(
    private readonly vmis: Informer<VirtualMachineInstance>,
    private readonly random: () => number,
  ) {
    vmis.addIndex(index, ({ status }) => (status?.VSOCKCID === undefined ? [] : [String(status.VSOCKCID)]));
    vmis.addHandler({ delete: ({ metadata }) => this.#release(metadata.uid) });
  }

  /** Undefined: the VMI has no such device. Always the same for one VMI. */
  of({ metadata, spec, status }: VirtualMachineInstance): number | undefined {
    if (status?.VSOCKCID !== undefined) return status.VSOCKCID;
    if (spec.domain.devices.autoattachVSOCK !== true) return undefined;
    const id = this.#given.get(metadata.uid) ?? this.#draw();
    this.#given.set(metadata.uid, id);
    this.#taken.add(id);
    return id;
  }

  #draw(): number {
    let offset = Math.floor(this.random() * count);
    while (this.#isTaken(first + offset)) offset = (offset + 1) % count;
    return first + offset;
  }

  #isTaken(id: number): boolean {
    return this.#taken.has(id) || this.vmis.byIndex(index, String(id)).length > 0;
  }

  #release(uid: string): void {
    const id = this.#given.get(uid);
    if (id === undefined) return;
    this.#given.delete(uid);
    this.#taken.delete(id);
  }
}
