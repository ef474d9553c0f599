/**
 * Containers that hold the images of disks and kernels. Such an image has nothing but its files, so what runs in it is a static program
 * that an init container has copied from the launcher's image. The launcher reads the files through the program's `/proc/<pid>/root`,
 * for which the containers of the pod share their process namespace.
 */
import type { Container, PodSpec, Volume } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { imageContainer, imageHolder, kernelBootContainer } from '../../openapi/launcher/pod.js';
import { isGuaranteed, supportResources } from './resources.js';
import { containerSecurityContext } from './security.js';
import type { LauncherPodSettings } from './settings.js';

export interface ImageParts {
  readonly containers: Container[];
  readonly volumes: Volume[];
  readonly spec: Pick<PodSpec, 'initContainers' | 'shareProcessNamespace'>;
}

export function imageParts(vmi: VirtualMachineInstance, settings: LauncherPodSettings): ImageParts {
  const images = imagesOf(vmi);
  if (images.length === 0) return { containers: [], volumes: [], spec: {} };
  return {
    containers: images.map((image) => holder(image, vmi, settings)),
    volumes: [{ name: imageHolder.volume, emptyDir: {} }],
    spec: { initContainers: [copyHolder(vmi, settings)], shareProcessNamespace: true },
  };
}

type PullPolicy = Container['imagePullPolicy'];

interface Image {
  readonly container: string;
  readonly image: string;
  readonly policy: PullPolicy;
}

function imagesOf({ spec }: VirtualMachineInstance): Image[] {
  const kernel = spec.domain.firmware?.kernelBoot?.container;
  const disks = (spec.volumes ?? []).flatMap(({ name, containerDisk }) =>
    containerDisk === undefined
      ? []
      : [
          {
            container: imageContainer(name),
            image: containerDisk.image,
            policy: containerDisk.imagePullPolicy,
          },
        ],
  );
  if (kernel === undefined) return disks;
  return [{ container: kernelBootContainer, image: kernel.image, policy: kernel.imagePullPolicy }, ...disks];
}

/** Costs next to nothing itself. */
function holder(
  { container, image, policy }: Image,
  vmi: VirtualMachineInstance,
  settings: LauncherPodSettings,
): Container {
  return {
    name: container,
    image,
    ...pullPolicy(policy ?? defaultPolicy(image)),
    command: [imageHolder.path],
    args: [container],
    resources: supportResources('container-disk', settings.configuration, isGuaranteed(vmi, settings)),
    securityContext: { ...containerSecurityContext, readOnlyRootFilesystem: true },
    volumeMounts: [{ name: imageHolder.volume, mountPath: imageHolder.directory, readOnly: true }],
  };
}

function copyHolder(vmi: VirtualMachineInstance, settings: LauncherPodSettings): Container {
  const { configuration, launcherImage } = settings;
  return {
    name: 'image-holder',
    image: launcherImage,
    ...pullPolicy(configuration.imagePullPolicy),
    command: ['cp', imageHolder.source, imageHolder.path],
    resources: supportResources('container-disk', configuration, isGuaranteed(vmi, settings)),
    securityContext: containerSecurityContext,
    volumeMounts: [{ name: imageHolder.volume, mountPath: imageHolder.directory }],
  };
}

/** Kubernetes' own rule: only a tag that moves is pulled each time. */
function defaultPolicy(image: string): PullPolicy {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

export const pullPolicy = (policy: PullPolicy): { imagePullPolicy?: NonNullable<PullPolicy> } =>
  policy === undefined ? {} : { imagePullPolicy: policy };
