/** Makes instances from the template of a replica set. */
import { createHash } from 'node:crypto';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { maximumLabelLength } from '../../openapi/names.js';
import { finalizers } from '../constants.js';
import { controllerReference } from '../runtime/writes.js';

const suffixLength = 5;
/** What the API server makes generated names of: no vowels, so no words. */
const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

export function instanceOf(
  replicaSet: VirtualMachineInstanceReplicaSet,
  name: string,
): New<VirtualMachineInstance> & { metadata: { name: string } } {
  const { metadata, spec } = replicaSet.spec.template;
  const { namespace } = replicaSet.metadata;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      generateName: baseNameOf(replicaSet),
      ...(namespace === undefined ? {} : { namespace }),
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata?.annotations === undefined ? {} : { annotations: metadata.annotations }),
      finalizers: [finalizers.virtualMachineInstance],
      ownerReferences: [controllerReference(replicaSet)],
    },
    spec: spec ?? { domain: { devices: {} } },
  };
}

/**
 * The first names of the replica set's sequence that nobody has. They look like generated names but follow from the replica
 * set's UID: one who does not see yet what was made before asks for the same name again and is refused, so that there
 * never is one too many.
 */
export function freeNames(
  replicaSet: VirtualMachineInstanceReplicaSet,
  count: number,
  isTaken: (name: string) => boolean,
): string[] {
  const base = baseNameOf(replicaSet).slice(0, maximumLabelLength - suffixLength);
  const names = new Set<string>();
  for (let ordinal = 0; names.size < count; ordinal++) {
    const name = `${base}${suffix(replicaSet.metadata.uid, ordinal)}`;
    if (!isTaken(name)) names.add(name);
  }
  return [...names];
}

function baseNameOf({ metadata, spec }: VirtualMachineInstanceReplicaSet): string {
  const given: Partial<typeof metadata> = spec.template.metadata ?? {};
  return [given.name, given.generateName].find((name) => name !== undefined && name !== '') ?? metadata.name;
}

function suffix(uid: string, ordinal: number): string {
  const digest = createHash('sha256').update(`${uid}/${ordinal}`).digest();
  return [...digest.subarray(0, suffixLength)]
    .map((byte) => suffixAlphabet.charAt(byte % suffixAlphabet.length))
    .join('');
}
