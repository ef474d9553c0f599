import type {
  CloudInitConfigDriveSource,
  CloudInitNoCloudSource,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { sshPublicKeys } from '../access-credentials.js';
import { failure } from '../errors.js';
import type { IsoFile } from './iso9660/image.js';
import { volumeFile } from './volume-files.js';

type Source = CloudInitNoCloudSource | CloudInitConfigDriveSource;

interface Seed {
  readonly userData: Buffer | undefined;
  readonly networkData: Buffer | undefined;
}

export interface SeedImage {
  readonly label: string;
  readonly files: readonly IsoFile[];
}

const maxHostname = 63;

/** The host name of the guest: `spec.hostname`, else the VMI's name made one. */
export function guestHostname({ metadata, spec }: VirtualMachineInstance): string {
  if (spec.hostname) return spec.hostname;
  const [first = metadata.name] = metadata.name.split('.');
  return first.slice(0, maxHostname).replace(/-+$/, '');
}

/** The same for every start of a VM, so that cloud-init does its first-boot work once. */
function instanceId({ metadata }: VirtualMachineInstance): string {
  return `${metadata.name}.${metadata.namespace ?? 'default'}`;
}

/** cloud-init's NoCloud: a file system labelled `cidata`. */
export async function noCloud(
  volume: string,
  source: CloudInitNoCloudSource,
  vmi: VirtualMachineInstance,
): Promise<SeedImage> {
  const { userData, networkData } = await readSeed(volume, 'cloudInitNoCloud', source);
  const keys = await sshPublicKeys(vmi, 'noCloud');
  const metaData = {
    'instance-id': instanceId(vmi),
    'local-hostname': guestHostname(vmi),
    ...(keys.length === 0 ? {} : { 'public-keys': keys }),
  };
  return {
    label: 'cidata',
    files: [
      { path: 'meta-data', content: Buffer.from(`${JSON.stringify(metaData)}\n`) },
      // cloud-init takes the seed only when both files are there.
      { path: 'user-data', content: userData ?? Buffer.alloc(0) },
      ...(networkData ? [{ path: 'network-config', content: networkData }] : []),
    ],
  };
}

/** OpenStack's config drive: a file system labelled `config-2`. */
export async function configDrive(
  volume: string,
  source: CloudInitConfigDriveSource,
  vmi: VirtualMachineInstance,
): Promise<SeedImage> {
  const { userData, networkData } = await readSeed(volume, 'cloudInitConfigDrive', source);
  const hostname = guestHostname(vmi);
  const keys = await sshPublicKeys(vmi, 'configDrive');
  const metaData = {
    uuid: instanceId(vmi),
    instance_id: instanceId(vmi),
    hostname,
    local_hostname: hostname,
    ...(keys.length === 0
      ? {}
      : { public_keys: Object.fromEntries(keys.map((key, index) => [`key-${index}`, key])) }),
  };
  const folder = 'openstack/latest';
  return {
    label: 'config-2',
    files: [
      { path: `${folder}/meta_data.json`, content: Buffer.from(`${JSON.stringify(metaData)}\n`) },
      ...(userData ? [{ path: `${folder}/user_data`, content: userData }] : []),
      ...(networkData ? [{ path: `${folder}/network_data.json`, content: networkData }] : []),
    ],
  };
}

async function readSeed(volume: string, kind: string, source: Source): Promise<Seed> {
  const path = (field: string) => `spec.volumes (${volume}) ${kind}.${field}`;
  return {
    userData:
      inline(path('userDataBase64'), source.userData, source.userDataBase64) ??
      (source.secretRef && (await fromSecret(volume, path('secretRef'), ['userdata', 'userData']))),
    networkData:
      inline(path('networkDataBase64'), source.networkData, source.networkDataBase64) ??
      (source.networkDataSecretRef &&
        (await fromSecret(volume, path('networkDataSecretRef'), ['networkdata', 'networkData']))),
  };
}

function inline(path: string, text: string | undefined, base64: string | undefined): Buffer | undefined {
  if (text !== undefined && text !== '') return Buffer.from(text);
  if (base64 === undefined || base64 === '') return undefined;
  const compact = base64.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) throw failure('InvalidField', path, 'it is not base64');
  return Buffer.from(compact, 'base64');
}

async function fromSecret(volume: string, path: string, keys: readonly string[]): Promise<Buffer> {
  const data = await volumeFile(volume, keys);
  if (!data) throw failure('InvalidField', path, `the secret has no key ${keys.join(' or ')}`);
  return data;
}
