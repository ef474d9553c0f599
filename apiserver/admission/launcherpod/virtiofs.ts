/**
 * Containers that share directories of the pod with the guest. They are added when the pod is created, because only then is it
 * known what others have mounted into the launcher's container (tokens, secrets of an injector).
 */
import type {
  Container,
  Pod,
  Volume as PodVolume,
  VolumeMount,
} from '../../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
  Volume,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { nonRootUser } from '../vmi/constants.js';
import { virtiofsResources } from './resources.js';

const computeContainer = 'compute';
const socketVolume = 'virtiofs-containers';
const socketDirectory = `/var/run/kubevirt/${socketVolume}`;
/** Apart from every path that somebody may mount something at. */
const dataDirectory = '/virtiofs-data';

/** Volumes that Kubernetes fills itself: no link in them leads out. */
const safeSources = ['configMap', 'secret', 'projected', 'downwardAPI', 'emptyDir'] as const;

/** The containers that the pod lacks, in the order of the VMI's volumes. Volumes that can not be shared safely get none. */
export function missingVirtiofsContainers(
  pod: Pod,
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): Container[] {
  const containers = pod.spec?.containers ?? [];
  const compute = containers.find(({ name }) => name === computeContainer);
  if (compute === undefined) return [];
  const shared = new Set((vmi.spec.domain.devices.filesystems ?? []).map(({ name }) => name));
  return (vmi.spec.volumes ?? []).flatMap((volume) => {
    const name = `virtiofs-${volume.name}`;
    if (!shared.has(volume.name) || containers.some((container) => container.name === name)) return [];
    const source = sourceOf(volume, compute, pod.spec?.volumes ?? []);
    return source === undefined ? [] : [virtiofsContainer(name, volume, compute, source, vmi, configuration)];
  });
}

/** What of the pod a volume of the VMI shows to the guest. */
interface Source {
  readonly volume: PodVolume;
  /** Below the volume's root; empty for all of it. */
  readonly subPath: string;
}

function sourceOf(
  { containerPath }: Volume,
  { volumeMounts = [] }: Container,
  volumes: readonly PodVolume[],
): Source | undefined {
  if (containerPath?.readOnly !== true) return undefined;
  const { path } = containerPath;
  const [mount] = volumeMounts
    .filter(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  const volume = volumes.find(({ name }) => name === mount?.name);
  if (mount === undefined || volume === undefined) return undefined;
  if (!safeSources.some((source) => volume[source] !== undefined)) return undefined;
  return { volume, subPath: path.slice(mount.mountPath.length + 1) };
}

function virtiofsContainer(
  name: string,
  volume: Volume,
  { image }: Container,
  { volume: { name: source, projected }, subPath }: Source,
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): Container {
  const directory = `${dataDirectory}/${volume.name}`;
  const mounts: VolumeMount[] = [
    { name: socketVolume, mountPath: socketDirectory },
    { name: source, readOnly: true, mountPath: directory, ...(subPath === '' ? {} : { subPath }) },
  ];
  // The links of a token belong to the pod's user, and the guest's kernel would not let root follow them.
  const hasToken = (projected?.sources ?? []).some(
    ({ serviceAccountToken }) => serviceAccountToken !== undefined,
  );
  return {
    name,
    ...(image === undefined ? {} : { image }),
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/libexec/virtiofsd'],
    args: [
      `--socket-path=${socketDirectory}/${volume.name}.sock`,
      `--shared-dir=${directory}`,
      '--sandbox=none',
      '--cache=auto',
      '--migration-on-error=guest-error',
      '--migration-mode=find-paths',
      ...(hasToken ? [`--translate-uid=host:${nonRootUser}:0:1`] : []),
    ],
    resources: virtiofsResources(vmi.spec.domain, configuration),
    volumeMounts: mounts,
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsGroup: nonRootUser,
      runAsNonRoot: true,
      runAsUser: nonRootUser,
    },
  };
}
