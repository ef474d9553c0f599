/** The container that runs the VM. */
import type { Container, VolumeDevice, VolumeMount } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import {
  blockDeviceDirectory,
  computeContainer as name,
  podDirectory,
  privateVolume,
} from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { pullPolicy } from './image-containers.js';
import { launcherProbes } from './probes.js';
import { computeResources } from './resources.js';
import { containerSecurityContext } from './security.js';
import { allowsEmulation, type LauncherPodSettings } from './settings.js';
import { podVolumes } from './volumes.js';

/** The kubelet makes it for what a container says last. */
const terminationMessagePath = '/dev/termination-log';

/** `blockVolumes`: names of the volumes whose claims are block devices. */
export function computeContainer(
  vmi: VirtualMachineInstance,
  settings: LauncherPodSettings,
  blockVolumes: ReadonlySet<string>,
): Container {
  const { configuration, launcherImage } = settings;
  const names = podVolumes(vmi).map((volume) => volume.name);
  const volumeMounts: VolumeMount[] = [
    { name: privateVolume, mountPath: podDirectory },
    ...names
      .filter((volume) => !blockVolumes.has(volume))
      .map((volume) => ({ name: volume, mountPath: `${podDirectory}/${podLayout.volumes}/${volume}` })),
  ];
  const volumeDevices: VolumeDevice[] = names
    .filter((volume) => blockVolumes.has(volume))
    .map((volume) => ({ name: volume, devicePath: `${blockDeviceDirectory}/${volume}` }));
  return {
    name,
    image: launcherImage,
    ...pullPolicy(configuration.imagePullPolicy),
    command: ['nativirt', 'launcher'],
    args: launcherArguments(vmi, settings),
    workingDir: podDirectory,
    terminationMessagePath,
    resources: computeResources(vmi, settings),
    securityContext: containerSecurityContext,
    ...launcherProbes(vmi),
    volumeMounts,
    ...(volumeDevices.length === 0 ? {} : { volumeDevices }),
  };
}

function launcherArguments({ metadata }: VirtualMachineInstance, settings: LauncherPodSettings): string[] {
  return [
    `--pod-dir=${podDirectory}`,
    `--namespace=${metadata.namespace ?? ''}`,
    `--name=${metadata.name}`,
    `--uid=${metadata.uid}`,
    `--termination-message=${terminationMessagePath}`,
    ...(allowsEmulation(settings) ? [] : ['--require-kvm']),
  ];
}
