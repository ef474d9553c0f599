/** The `--volume-import` flag: a data volume that is made with the machine. */
import type { DataVolumeTemplateSpec } from '../openapi/generated/types/kubevirt_v1.js';
import { UsageError } from './errors.js';
import { bootOrderOf, parseParameters, splitReference } from './flag-parameters.js';
import type { PlannedVolume } from './vm-manifest.js';

const flag = 'volume-import';
const common = ['type', 'name', 'size', 'bootorder'] as const;

/** Parameters of each kind of source, and the member of the data volume's source that each becomes. */
const sources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  blank: {},
  ds: { src: '' },
  gcs: { url: 'url', secretref: 'secretRef' },
  http: { url: 'url', secretref: 'secretRef', certconfigmap: 'certConfigMap' },
  imageio: { url: 'url', diskid: 'diskId', secretref: 'secretRef', certconfigmap: 'certConfigMap' },
  pvc: { src: '' },
  registry: {
    url: 'url',
    imagestream: 'imageStream',
    pullmethod: 'pullMethod',
    secretref: 'secretRef',
    certconfigmap: 'certConfigMap',
  },
  s3: { url: 'url', secretref: 'secretRef', certconfigmap: 'certConfigMap' },
  snapshot: { src: '' },
  vddk: {
    url: 'url',
    uuid: 'uuid',
    backingfile: 'backingFile',
    thumbprint: 'thumbprint',
    secretref: 'secretRef',
    initimageurl: 'initImageURL',
  },
};

/** Throws a `UsageError`. */
export function importedVolume(text: string, defaultName: string): PlannedVolume {
  const type = /(?:^|,)type:([a-z0-9]*)/.exec(text)?.[1] ?? '';
  const members = Object.hasOwn(sources, type) ? sources[type] : undefined;
  if (members === undefined)
    throw new UsageError(`--${flag}: type must be one of ${Object.keys(sources).join(', ')}`);
  const found: Partial<Record<string, string>> = parseParameters(flag, text, [
    ...common,
    ...Object.keys(members),
  ]);
  const { name = defaultName, size, bootorder } = found;
  if (type === 'blank' && size === undefined) throw new UsageError(`--${flag}: a blank volume needs a size`);
  const storage = size === undefined ? {} : { resources: { requests: { storage: size } } };
  const template = {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    // The rest of an object's metadata is the server's.
    metadata: { name } as DataVolumeTemplateSpec['metadata'],
    spec: { ...sourceOf(type, members, found), storage },
  };
  return {
    volume: { name, dataVolume: { name } },
    bootOrder: bootOrderOf(flag, bootorder),
    template,
  };
}

function sourceOf(
  type: string,
  members: Readonly<Record<string, string>>,
  found: Partial<Record<string, string>>,
): object {
  if ('src' in members) {
    const { src = '' } = found;
    if (src === '') throw new UsageError(`--${flag}: src:[NAMESPACE/]NAME is missing`);
    const { prefix, name } = splitReference(src);
    const reference = { ...(prefix === undefined ? {} : { namespace: prefix }), name };
    return type === 'ds'
      ? { sourceRef: { kind: 'DataSource', ...reference } }
      : { source: { [type]: reference } };
  }
  const given = Object.entries(members).flatMap(([key, member]) => {
    const value = found[key];
    return value === undefined ? [] : [[member, value] as const];
  });
  if ('url' in members && found['url'] === undefined && found['imagestream'] === undefined)
    throw new UsageError(`--${flag}: url is missing`);
  return { source: { [type]: Object.fromEntries(given) } };
}
