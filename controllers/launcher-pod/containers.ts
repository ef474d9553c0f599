/** The containers of a launcher pod: `compute` runs the VM, the others bring images. */
import type { Container, VolumeDevice, VolumeMount } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { computeResources } from './resources.js';
import { containerSecurityContext } from './security.js';
import { podDirectory, type LauncherPodSettings } from './settings.js';
import { podVolumes } from './volumes.js';

/** Holds the pod directory. */
export const privateVolume = 'nativirt-private';

export function launcherContainers(
  vmi: VirtualMachineInstance,
  settings: LauncherPodSettings,
  blockVolumes: ReadonlySet<string>,
): Container[] {
  return [
    computeContainer(vmi, settings, blockVolumes),
    ...kernelBootContainer(vmi, settings),
    ...diskContainers(vmi, settings),
  ];
}

function computeContainer(
  vmi: VirtualMachineInstance,
  { configuration, launcherImage }: LauncherPodSettings,
  blockVolumes: ReadonlySet<string>,
): Container {
  const names = podVolumes(vmi.spec.volumes).map(({ name }) => name);
  const place = (name: string): string => `${podDirectory}/${podLayout.volumes}/${name}`;
  const volumeMounts: VolumeMount[] = [
    { name: privateVolume, mountPath: podDirectory },
    ...names.filter((name) => !blockVolumes.has(name)).map((name) => ({ name, mountPath: place(name) })),
  ];
  const volumeDevices: VolumeDevice[] = names
    .filter((name) => blockVolumes.has(name))
    .map((name) => ({ name, devicePath: place(name) }));
  return {
    name: 'compute',
    image: launcherImage,
    ...pullPolicy(configuration.imagePullPolicy),
    command: ['nativirt', 'launcher'],
    workingDir: podDirectory,
    resources: computeResources(vmi, configuration),
    securityContext: containerSecurityContext,
    volumeMounts,
    ...(volumeDevices.length === 0 ? {} : { volumeDevices }),
  };
}

function diskContainers(vmi: VirtualMachineInstance, settings: LauncherPodSettings): Container[] {
  return (vmi.spec.volumes ?? []).flatMap(({ name, containerDisk }) =>
    containerDisk === undefined
      ? []
      : [imageContainer(`volume${name}`, containerDisk.image, containerDisk.imagePullPolicy, settings)],
  );
}

function kernelBootContainer(vmi: VirtualMachineInstance, settings: LauncherPodSettings): Container[] {
  const container = vmi.spec.domain.firmware?.kernelBoot?.container;
  if (container === undefined) return [];
  return [imageContainer('kernel-boot', container.image, container.imagePullPolicy, settings)];
}

type PullPolicy = Container['imagePullPolicy'];

/** Holds an image, whose files the launcher reads; costs next to nothing itself. */
function imageContainer(
  name: string,
  image: string,
  policy: PullPolicy,
  { configuration }: LauncherPodSettings,
): Container {
  const asked = configuration.supportContainerResources?.find(({ type }) => type === 'container-disk');
  return {
    name,
    image,
    ...pullPolicy(policy ?? defaultPolicy(image)),
    resources: asked?.resources ?? {
      requests: { cpu: '1m', memory: '1M', 'ephemeral-storage': '50M' },
      limits: { cpu: '10m', memory: '40M' },
    },
    securityContext: containerSecurityContext,
  };
}

/** Kubernetes' own rule: only a tag that moves is pulled each time. */
function defaultPolicy(image: string): PullPolicy {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const pullPolicy = (policy: PullPolicy): { imagePullPolicy?: NonNullable<PullPolicy> } =>
  policy === undefined ? {} : { imagePullPolicy: policy };
