/** The migration that takes a VMI off a node. Pure. */
import { createHash } from 'node:crypto';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { annotations } from '../constants.js';
import { controllerReference } from '../runtime/writes.js';

type Migrations = readonly VirtualMachineInstanceMigration[];

/** Milliseconds before the first retry; doubled with each failure. */
const firstDelay = 20_000;
const longestDelay = 300_000;

/**
 * `finished`: the VMI's migrations that have ended. The name follows from the VMI and the last of them, so that a controller
 * that starts anew can not make a second migration, and one that failed is followed by another.
 */
export function evacuationMigration(
  vmi: VirtualMachineInstance,
  node: string,
  finished: Migrations,
): New<VirtualMachineInstanceMigration> & { metadata: { name: string } } {
  const { namespace, name, uid } = vmi.metadata;
  const last = newest(finished)?.metadata.uid ?? '';
  const suffix = createHash('sha256').update(`${uid}/${last}`).digest('hex').slice(0, 10);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: {
      name: `kubevirt-evacuation-${suffix}`,
      ...(namespace === undefined ? {} : { namespace }),
      annotations: { [annotations.evacuationMigration]: node },
      ownerReferences: [controllerReference(vmi)],
    },
    spec: { vmiName: name, priority: 'system-critical' },
  };
}

/** Milliseconds to wait after evacuations of this VMI from this node have failed; 0 if it may be tried now. */
export function retryIn(finished: Migrations, node: string, now: number): number {
  const failed = finished.filter(
    ({ metadata, status }) =>
      status?.phase === 'Failed' && metadata.annotations?.[annotations.evacuationMigration] === node,
  );
  const last = newest(failed);
  if (last === undefined) return 0;
  const delay = Math.min(longestDelay, firstDelay * 2 ** (failed.length - 1));
  return Math.max(0, endOf(last) + delay - now);
}

function endOf({ metadata, status }: VirtualMachineInstanceMigration): number {
  const entered = status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Failed');
  return Date.parse(entered?.phaseTransitionTimestamp ?? metadata.creationTimestamp);
}

function newest(migrations: Migrations): VirtualMachineInstanceMigration | undefined {
  return [...migrations].sort(({ metadata: a }, { metadata: b }) =>
    a.creationTimestamp === b.creationTimestamp
      ? b.name.localeCompare(a.name)
      : b.creationTimestamp.localeCompare(a.creationTimestamp),
  )[0];
}
