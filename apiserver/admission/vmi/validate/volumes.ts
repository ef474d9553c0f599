/** Volumes: one source each, cloud-init sizes, host disks, references. */
import type { HostDisk, Volume } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { compareQuantities, isQuantity } from '../../../../openapi/quantity.js';
import { invalid, notFound, required, unknownWord, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import { filePathCauses } from './paths.js';
import type { SpecRule } from './rule.js';

/** More would be copied to every node with the VMI: a secret is the place for it. */
const longestCloudInit = 2048;
const hostDiskTypes = ['Disk', 'DiskOrCreate'];
/** At most one of each in a VMI. */
const singles = ['serviceAccount', 'downwardMetrics', 'memoryDump'] as const;

const sourcesOf = (volume: Volume): string[] =>
  Object.entries(volume)
    .filter(([key, value]) => key !== 'name' && value !== undefined)
    .map(([key]) => key);

export const volumes: SpecRule = ({ spec, at, configuration }) => {
  const all = spec.volumes ?? [];
  const field = at.child('volumes');
  const causes = all.flatMap((volume, index) => {
    const place = field.index(index);
    const found: StatusCause[] = [];
    const other = all.findIndex((each) => each.name === volume.name);
    if (other < index)
      found.push(
        invalid(place.child('name'), `volume ${other} has the name ${JSON.stringify(volume.name)} already`),
      );
    const sources = sourcesOf(volume);
    if (sources.length !== 1) {
      found.push(
        invalid(place, `must have one source${sources.length === 0 ? '' : `, not ${sources.join(' and ')}`}`),
      );
    }
    if (volume.downwardMetrics !== undefined && !featureEnabled(configuration, 'DownwardMetrics')) {
      found.push(invalid(place, 'downwardMetrics needs the feature gate DownwardMetrics'));
    }
    if (volume.hostDisk !== undefined && !featureEnabled(configuration, 'HostDisk')) {
      found.push(invalid(place, 'hostDisk needs the feature gate HostDisk'));
    }
    return [
      ...found,
      ...references(volume, place),
      ...cloudInit(volume, place),
      ...hostDisk(volume.hostDisk, place),
    ];
  });
  for (const source of singles) {
    if (all.filter((volume) => volume[source] !== undefined).length > 1) {
      causes.push(invalid(field, `at most one volume may be of the kind ${source}`));
    }
  }
  return causes;
};

function references(
  { dataVolume, configMap, secret, serviceAccount }: Volume,
  place: FieldPath,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (dataVolume?.name === '') causes.push(required(place.child('name'), 'dataVolume.name must be set'));
  if (configMap !== undefined && (configMap.name ?? '') === '')
    causes.push(invalid(place.child('configMap', 'name'), 'must be set'));
  if (secret !== undefined && (secret.secretName ?? '') === '')
    causes.push(invalid(place.child('secret', 'secretName'), 'must be set'));
  if (serviceAccount !== undefined && (serviceAccount.serviceAccountName ?? '') === '') {
    causes.push(invalid(place.child('serviceAccount', 'serviceAccountName'), 'must be set'));
  }
  return causes;
}

function cloudInit(volume: Volume, place: FieldPath): StatusCause[] {
  const kind = volume.cloudInitNoCloud !== undefined ? 'cloudInitNoCloud' : 'cloudInitConfigDrive';
  const source = volume[kind];
  if (source === undefined) return [];
  const field = place.child(kind);
  const user = data('userData', source.userData, source.userDataBase64, source.secretRef?.name, field);
  const network = data(
    'networkData',
    source.networkData,
    source.networkDataBase64,
    source.networkDataSecretRef?.name,
    field,
  );
  const causes = [...user.causes, ...network.causes];
  if (user.sources === 0 && network.sources === 0)
    causes.push(invalid(field, 'must have user data or network data'));
  return causes;
}

function data(
  name: 'userData' | 'networkData',
  plain: string | undefined,
  base64: string | undefined,
  secret: string | undefined,
  field: FieldPath,
): { sources: number; causes: StatusCause[] } {
  const given = [plain, base64, secret].filter((source) => source !== undefined && source !== '');
  const causes: StatusCause[] = [];
  const encoded = base64 ?? '';
  if (encoded !== '' && !isBase64(encoded))
    causes.push(invalid(field.child(`${name}Base64`), 'is not base64'));
  if (given.length > 1) causes.push(invalid(field, `${name}, ${name}Base64 and a secret exclude each other`));
  const bytes =
    plain !== undefined && plain !== '' ? Buffer.byteLength(plain) : Buffer.from(encoded, 'base64').length;
  if (bytes > longestCloudInit) {
    causes.push(
      invalid(
        field,
        `${name} has ${bytes} bytes, more than ${longestCloudInit}: put it in a secret and name that`,
      ),
    );
  }
  return { sources: given.length, causes };
}

const isBase64 = (text: string): boolean =>
  text.replace(/[\r\n]/g, '').length % 4 === 0 && /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/.test(text);

function hostDisk(disk: HostDisk | undefined, place: FieldPath): StatusCause[] {
  if (disk === undefined) return [];
  const field = place.child('hostDisk');
  const causes: StatusCause[] = [];
  if (disk.path === '') causes.push(notFound(field.child('path'), 'must be set'));
  if (!hostDiskTypes.includes(disk.type))
    causes.push(invalid(field.child('type'), unknownWord(disk.type, hostDiskTypes)));
  const { capacity } = disk;
  if (
    disk.type === 'Disk' &&
    capacity !== undefined &&
    isQuantity(capacity) &&
    compareQuantities(capacity, 0) !== 0
  ) {
    causes.push(
      invalid(field.child('capacity'), 'an existing disk has its size: capacity goes with type DiskOrCreate'),
    );
  }
  return causes;
}

export const containerDiskPaths: SpecRule = ({ spec, at }) =>
  (spec.volumes ?? []).flatMap(({ containerDisk }, index) =>
    containerDisk?.path === undefined || containerDisk.path === ''
      ? []
      : filePathCauses(at.child('volumes').index(index).child('containerDisk'), containerDisk.path),
  );

/** Only for VMIs: a VM's volume may wait for a disk that is hotplugged. */
export const volumesAttached: SpecRule = ({ spec, at }) => {
  const { disks = [], filesystems = [] } = spec.domain.devices;
  const [onDisk, onFilesystem] = [disks, filesystems].map(
    (devices) => new Set(devices.map((device) => device.name)),
  );
  const field = at.child('domain', 'volumes');
  return (spec.volumes ?? []).flatMap((volume, index) => {
    if (volume.memoryDump !== undefined) return [];
    const asDisk = onDisk?.has(volume.name) === true;
    const asFilesystem = onFilesystem?.has(volume.name) === true;
    const place = field.index(index);
    const causes: StatusCause[] = [];
    if (!asDisk && !asFilesystem)
      causes.push(
        invalid(place.child('name'), `no disk or filesystem is named ${JSON.stringify(volume.name)}`),
      );
    if (volume.containerPath === undefined) return causes;
    if (asDisk) causes.push(invalid(place, 'a containerPath volume is a filesystem, not a disk'));
    if (!asFilesystem) causes.push(invalid(place, 'a containerPath volume needs a filesystem of its name'));
    if (/^\/var\/run\/(kubevirt|libvirt)/.test(volume.containerPath.path)) {
      causes.push(invalid(place.child('containerPath', 'path'), `${volume.containerPath.path} is reserved`));
    }
    return causes;
  });
};

export const utilityVolumes: SpecRule = ({ spec, at }) =>
  (spec.utilityVolumes ?? []).length === 0
    ? []
    : [invalid(at.child('utilityVolumes'), 'can be added only to a running guest')];

export const virtiofs: SpecRule = ({ spec, at, configuration }) => {
  const byName = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  return (spec.domain.devices.filesystems ?? []).flatMap(({ name }) => {
    const volume = byName.get(name);
    const onStorage = volume?.persistentVolumeClaim !== undefined || volume?.dataVolume !== undefined;
    if (!onStorage || featureEnabled(configuration, 'EnableVirtioFsStorageVolumes')) return [];
    return [
      invalid(
        at.child('domain', 'devices', 'filesystems'),
        `${name}: sharing a claim needs the feature gate EnableVirtioFsStorageVolumes`,
      ),
    ];
  });
};
