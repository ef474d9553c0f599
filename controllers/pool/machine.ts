/** Makes the VMs of a pool: from its template, each with its number. Pure. */
import type {
  VirtualMachinePool,
  VirtualMachinePoolSpec,
} from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type {
  CloudInitNoCloudSource,
  VirtualMachine,
  VirtualMachineSpec,
  Volume,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { createMergePatch } from '../../openapi/merge-patch.js';
import type { New, ObjectMeta } from '../../openapi/meta.js';
import { annotations, finalizers, labels } from '../constants.js';
import { controllerReference } from '../runtime/writes.js';
import { digestOf } from '../virtual-machine/template.js';

/** The part of a pool that decides what its VMs look like. */
export type Design = Pick<VirtualMachinePoolSpec, 'virtualMachineTemplate' | 'nameGeneration'>;

export function designOf({ virtualMachineTemplate, nameGeneration }: VirtualMachinePoolSpec): Design {
  return { virtualMachineTemplate, ...(nameGeneration === undefined ? {} : { nameGeneration }) };
}

/** A design, and the name of the revision that holds it. */
export interface NamedDesign {
  readonly name: string;
  readonly design: Design;
}

export function nameOf(pool: VirtualMachinePool, ordinal: number): string {
  return `${pool.metadata.name}-${ordinal}`;
}

export function ordinalOf(vm: VirtualMachine): number {
  return Number(/-(\d+)$/.exec(vm.metadata.name)?.[1] ?? 0);
}

export function machineOf(
  pool: VirtualMachinePool,
  revision: NamedDesign,
  ordinal: number,
): New<VirtualMachine> & { metadata: { name: string } } {
  const { metadata, spec } = outlineOf(revision, ordinal);
  const { namespace } = pool.metadata;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      ...metadata,
      // No update changes it: the disks stay what they are.
      annotations: { ...metadata.annotations, [annotations.poolDisksDigest]: disksDigest(revision.design) },
      name: nameOf(pool, ordinal),
      ...(namespace === undefined ? {} : { namespace }),
      finalizers: [finalizers.virtualMachine, finalizers.virtualMachinePool],
      ownerReferences: [controllerReference(pool)],
    },
    spec,
  };
}

/** Equal for designs whose VMs have the same disks. */
export function disksDigest(design: Design): string {
  return digestOf(numbered(design, 0).dataVolumeTemplates ?? []);
}

/**
 * A merge patch: what has changed from one design to the other, and nothing else. What the server, its controllers or users have
 * added to the VM since stays, among it the identity of the guest. `before` is undefined if nobody knows it any more.
 */
export function changeBetween(before: NamedDesign | undefined, after: NamedDesign, ordinal: number): object {
  return createMergePatch(before === undefined ? {} : { ...outlineOf(before, ordinal) }, {
    ...outlineOf(after, ordinal),
  });
}

interface Outline {
  readonly metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  readonly spec: VirtualMachineSpec;
}

/** Where others add members of their own there is always an object: a patch would take away theirs with an object of ours. */
function outlineOf({ name, design }: NamedDesign, ordinal: number): Outline {
  const { metadata } = design.virtualMachineTemplate;
  const spec = numbered(design, ordinal);
  const revision = { [labels.poolRevision]: name };
  const inner: Partial<ObjectMeta> = spec.template.metadata ?? {};
  const guest = spec.template.spec;
  const template = {
    ...spec.template,
    // Templates have no identity, though their type knows the fields.
    metadata: {
      ...inner,
      labels: { ...inner.labels, ...revision },
      annotations: { ...inner.annotations },
    } as ObjectMeta,
    ...(guest === undefined
      ? {}
      : { spec: { ...guest, domain: { ...guest.domain, firmware: { ...guest.domain.firmware } } } }),
  };
  return {
    metadata: {
      labels: { ...metadata?.labels, ...revision },
      annotations: { ...metadata?.annotations },
    },
    spec: { ...spec, template },
  };
}

/** What only one VM can use has its number in its name. */
export function numbered(
  { virtualMachineTemplate, nameGeneration }: Design,
  ordinal: number,
): VirtualMachineSpec {
  const spec = virtualMachineTemplate.spec ?? { template: {} };
  const { dataVolumeTemplates, template } = spec;
  const append = (name: string): string => `${name}-${ordinal}`;
  const own = new Set(dataVolumeTemplates?.map(({ metadata }) => metadata.name));
  const naming: Naming = {
    claim: (name) => (own.has(name) ? append(name) : name),
    secret: nameGeneration?.appendIndexToSecretRefs === true ? append : (name) => name,
    configMap: nameGeneration?.appendIndexToConfigMapRefs === true ? append : (name) => name,
  };
  const volumes = template.spec?.volumes?.map((volume) => renamed(volume, naming));
  return {
    ...spec,
    ...(dataVolumeTemplates === undefined
      ? {}
      : {
          dataVolumeTemplates: dataVolumeTemplates.map((each) => ({
            ...each,
            metadata: { ...each.metadata, name: append(each.metadata.name) },
          })),
        }),
    template:
      template.spec === undefined || volumes === undefined
        ? template
        : { ...template, spec: { ...template.spec, volumes } },
  };
}

type Naming = Readonly<Record<'claim' | 'secret' | 'configMap', (name: string) => string>>;

function renamed(volume: Volume, naming: Naming): Volume {
  const { persistentVolumeClaim, dataVolume, configMap, secret } = volume;
  const { cloudInitNoCloud, cloudInitConfigDrive } = volume;
  return {
    ...volume,
    ...(persistentVolumeClaim === undefined
      ? {}
      : {
          persistentVolumeClaim: {
            ...persistentVolumeClaim,
            claimName: naming.claim(persistentVolumeClaim.claimName),
          },
        }),
    ...(dataVolume === undefined
      ? {}
      : { dataVolume: { ...dataVolume, name: naming.claim(dataVolume.name) } }),
    ...(configMap?.name === undefined
      ? {}
      : { configMap: { ...configMap, name: naming.configMap(configMap.name) } }),
    ...(secret?.secretName === undefined
      ? {}
      : { secret: { ...secret, secretName: naming.secret(secret.secretName) } }),
    ...(cloudInitNoCloud === undefined ? {} : { cloudInitNoCloud: withSecrets(cloudInitNoCloud, naming) }),
    ...(cloudInitConfigDrive === undefined
      ? {}
      : { cloudInitConfigDrive: withSecrets(cloudInitConfigDrive, naming) }),
  };
}

/** Both kinds of cloud-init disk have the same fields. */
function withSecrets(source: CloudInitNoCloudSource, { secret }: Naming): CloudInitNoCloudSource {
  const { secretRef, networkDataSecretRef } = source;
  return {
    ...source,
    ...(secretRef?.name === undefined ? {} : { secretRef: { ...secretRef, name: secret(secretRef.name) } }),
    ...(networkDataSecretRef?.name === undefined
      ? {}
      : { networkDataSecretRef: { ...networkDataSecretRef, name: secret(networkDataSecretRef.name) } }),
  };
}
