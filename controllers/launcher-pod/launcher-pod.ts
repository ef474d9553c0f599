/** The pod that runs a VMI. Pure: the same VMI and settings make the same pod. */
import type { Pod, PodSpec } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { privateVolume, unpausedGate } from '../../openapi/launcher/pod.js';
import { computeContainer } from './compute-container.js';
import { imageParts } from './image-containers.js';
import { launcherMetadata } from './metadata.js';
import { launcherScheduling } from './scheduling.js';
import { podSecurityContext } from './security.js';
import type { LauncherPodSettings } from './settings.js';
import { podVolumes } from './volumes.js';

/** Seconds, where the VMI says nothing. */
const defaultGracePeriod = 30;
/** Seconds for the launcher to end after its guest has been killed. */
const gracePeriodSlack = 15;

/** Seconds from asking the pod to stop until it is killed: the guest's time, and the launcher's after it. */
export function launcherGracePeriod({ spec }: VirtualMachineInstance): number {
  return (spec.terminationGracePeriodSeconds ?? defaultGracePeriod) + gracePeriodSlack;
}

/** `blockVolumes`: names of the volumes whose claims are block devices. */
export function launcherPod(
  vmi: VirtualMachineInstance,
  settings: LauncherPodSettings,
  blockVolumes: ReadonlySet<string> = new Set(),
): New<Pod> {
  const images = imageParts(vmi, settings);
  const serviceAccountName = serviceAccount(vmi);
  const podSpec: PodSpec = {
    restartPolicy: 'Never',
    readinessGates: [{ conditionType: unpausedGate }],
    terminationGracePeriodSeconds: launcherGracePeriod(vmi),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...launcherScheduling(vmi, settings),
    securityContext: podSecurityContext(settings.configuration),
    ...network(vmi),
    ...(serviceAccountName === undefined ? {} : { serviceAccountName }),
    ...(settings.configuration.defaultRuntimeClass === undefined
      ? {}
      : { runtimeClassName: settings.configuration.defaultRuntimeClass }),
    ...imagePullSecrets(vmi, settings),
    ...images.spec,
    containers: [computeContainer(vmi, settings, blockVolumes), ...images.containers],
    volumes: [{ name: privateVolume, emptyDir: {} }, ...images.volumes, ...podVolumes(vmi)],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: launcherMetadata(vmi, settings), spec: podSpec };
}

/** The account whose token the guest is given: only a pod's own can be had. */
function serviceAccount({ spec }: VirtualMachineInstance): string | undefined {
  return spec.volumes?.find((volume) => volume.serviceAccount !== undefined)?.serviceAccount
    ?.serviceAccountName;
}

function network({ metadata, spec }: VirtualMachineInstance): Partial<PodSpec> {
  const [firstLabel = metadata.name] = metadata.name.split('.');
  return {
    hostname: spec.hostname ?? firstLabel.slice(0, 63).replace(/-+$/, ''),
    ...(spec.subdomain === undefined ? {} : { subdomain: spec.subdomain }),
    ...(spec.dnsPolicy === undefined ? {} : { dnsPolicy: spec.dnsPolicy }),
    ...(spec.dnsConfig === undefined ? {} : { dnsConfig: spec.dnsConfig }),
  };
}

function imagePullSecrets(
  { spec }: VirtualMachineInstance,
  settings: LauncherPodSettings,
): Pick<PodSpec, 'imagePullSecrets'> {
  const names = new Set([
    ...settings.imagePullSecrets,
    ...(spec.volumes ?? []).map(({ containerDisk }) => containerDisk?.imagePullSecret),
    spec.domain.firmware?.kernelBoot?.container?.imagePullSecret,
  ]);
  const secrets = [...names].flatMap((name) => (name === undefined || name === '' ? [] : [{ name }]));
  return secrets.length === 0 ? {} : { imagePullSecrets: secrets };
}
