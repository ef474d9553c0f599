/** ControllerRevisions: what an instancetype or preference was when a VM first used it. */
import type { ControllerRevision } from '../generated/types/apps_v1.js';
import type { VirtualMachine } from '../generated/types/kubevirt_v1.js';
import type { KubernetesObject, New } from '../meta.js';
import { isQuantity } from '../quantity.js';
import { instancetypeGroup, latestVersion, referredKinds, type Referent, type Subject } from './kinds.js';

const label = (name: string): string => `${instancetypeGroup}/object-${name}`;
export const revisionLabels = {
  generation: label('generation'),
  kind: label('kind'),
  name: label('name'),
  uid: label('uid'),
  version: label('version'),
} as const;

/** Versions whose specs mean the same as the latest one's. */
const readableVersions = ['v1alpha1', 'v1alpha2', latestVersion];

/** The copy of `object` that belongs to `vm`. Its name says of which object in which state, so it is made once. */
export function revisionOf(vm: VirtualMachine, object: KubernetesObject): New<ControllerRevision> {
  const { name, namespace, uid, generation = 0, creationTimestamp, resourceVersion } = object.metadata;
  const { kind } = object;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: [vm.metadata.name, name, latestVersion, uid, generation].join('-'),
      ...(vm.metadata.namespace === undefined ? {} : { namespace: vm.metadata.namespace }),
      labels: {
        [revisionLabels.generation]: String(generation),
        [revisionLabels.kind]: kind,
        [revisionLabels.name]: name,
        [revisionLabels.uid]: uid,
        [revisionLabels.version]: latestVersion,
      },
      ownerReferences: [
        {
          apiVersion: vm.apiVersion,
          kind: vm.kind,
          name: vm.metadata.name,
          uid: vm.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    data: {
      ...object,
      apiVersion: `${instancetypeGroup}/${latestVersion}`,
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        uid,
        generation,
        creationTimestamp,
        resourceVersion,
      },
    },
    revision: 0,
  };
}

/** The copied object; undefined if the revision holds no instancetype (or preference) that can be read. */
export function referentOf<S extends Subject>(
  subject: S,
  { data = {} }: ControllerRevision,
): Referent<S> | undefined {
  const { apiVersion, kind, metadata, spec } = data;
  const [group, version = ''] = String(apiVersion).split('/');
  const known = referredKinds(subject).some((each) => each.kind === kind);
  if (group !== instancetypeGroup || !readableVersions.includes(version) || !known) return undefined;
  if (!isRecord(metadata) || !isRecord(spec) || (subject === 'instancetype' && !isSized(spec)))
    return undefined;
  // Copies are made of admitted objects: their kind says what they hold.
  return data as unknown as Referent<S>;
}

/** Whether it has what every instancetype has. */
function isSized({ cpu, memory }: Readonly<Record<string, unknown>>): boolean {
  return isRecord(cpu) && typeof cpu['guest'] === 'number' && isRecord(memory) && isQuantity(memory['guest']);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isLatest({ metadata }: ControllerRevision): boolean {
  return metadata.labels?.[revisionLabels.version] === latestVersion;
}
