/** The files of secret, config map, downward API and projected volumes. */
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  SecretVolumeSource,
  Volume,
  VolumeProjection,
} from '../../openapi/generated/types/core_v1.js';
import type { Client, Kind } from '../../controllers/runtime/client.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import { configMaps, secrets } from '../../controllers/runtime/kinds.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { PodError } from './errors.js';

export interface PayloadFile {
  /** Relative, without `..`. */
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

const defaultFileMode = 0o644;
const keyPattern = /^[-._a-zA-Z0-9]+$/;

export interface PayloadContext {
  readonly client: Client;
  readonly pod: Pod;
  /** Of the volume, for messages. */
  readonly volume: string;
  readonly signal: AbortSignal;
}

function fail({ volume }: PayloadContext, problem: string): PodError {
  return new PodError('FailedMount', `volume "${volume}": ${problem}`);
}

function checkPath(path: string, context: PayloadContext): string {
  const parts = path.split('/');
  if (
    path === '' ||
    path.startsWith('/') ||
    path.includes('\0') ||
    parts.includes('..') ||
    parts.includes('')
  ) {
    throw fail(context, `"${path}" is not a path inside the volume`);
  }
  return path;
}

async function fetch<T extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
  optional: boolean,
  context: PayloadContext,
): Promise<T | undefined> {
  const { namespace = '' } = context.pod.metadata;
  try {
    return await context.client.get(kind, { namespace, name }, context.signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (optional) return undefined;
    const what = kind.kind === 'Secret' ? 'secret' : 'config map';
    throw fail(context, `${what} "${name}" does not exist in namespace "${namespace}"`);
  }
}

interface Selection {
  readonly data: ReadonlyMap<string, Buffer>;
  readonly items: readonly KeyToPath[] | undefined;
  readonly mode: number;
  readonly optional: boolean;
  readonly what: string;
}

/** Without items, every key is a file. */
function select({ data, items, mode, optional, what }: Selection, context: PayloadContext): PayloadFile[] {
  if (items === undefined || items.length === 0) {
    return [...data].map(([key, content]) => {
      if (!keyPattern.test(key)) throw fail(context, `"${key}" of ${what} is not a file name`);
      return { path: checkPath(key, context), content, mode };
    });
  }
  return items.flatMap((item) => {
    const content = data.get(item.key);
    if (content !== undefined)
      return [{ path: checkPath(item.path, context), content, mode: item.mode ?? mode }];
    if (optional) return [];
    throw fail(context, `${what} has no key "${item.key}"`);
  });
}

async function secretFiles(
  source: Omit<SecretVolumeSource, 'defaultMode'>,
  mode: number | undefined,
  context: PayloadContext,
): Promise<PayloadFile[]> {
  const { secretName: name = '', items, optional = false } = source;
  const secret = await fetch(secrets, name, optional, context);
  const entries = Object.entries(secret?.data ?? {}).map(
    ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
  );
  const selection = {
    data: new Map(entries),
    items,
    mode: mode ?? defaultFileMode,
    what: `secret "${name}"`,
  };
  return select({ ...selection, optional: optional || secret === undefined }, context);
}

async function configMapFiles(
  source: Omit<ConfigMapVolumeSource, 'defaultMode'>,
  mode: number | undefined,
  context: PayloadContext,
): Promise<PayloadFile[]> {
  const { name = '', items, optional = false } = source;
  const configMap = await fetch(configMaps, name, optional, context);
  const data = new Map<string, Buffer>();
  for (const [key, value] of Object.entries(configMap?.data ?? {})) data.set(key, Buffer.from(value, 'utf8'));
  for (const [key, value] of Object.entries(configMap?.binaryData ?? {})) {
    data.set(key, Buffer.from(value, 'base64'));
  }
  const selection = { data, items, mode: mode ?? defaultFileMode, what: `config map "${name}"` };
  return select({ ...selection, optional: optional || configMap === undefined }, context);
}

/** As the kubelet writes labels and annotations: `key="value"` lines, sorted. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(map ?? {}).sort();
  return keys.map((key) => `${key}=${JSON.stringify(map?.[key] ?? '')}`).join('\n');
}

function fieldValue(fieldPath: string, pod: Pod): string | undefined {
  const { metadata, spec, status } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath);
  if (subscript) {
    const [, map, key = ''] = subscript;
    return (map === 'labels' ? metadata.labels : metadata.annotations)?.[key] ?? '';
  }
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.podIP':
      return status?.podIP ?? '';
    case 'status.hostIP':
      return status?.hostIP ?? '';
    default:
      return undefined;
  }
}

function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  mode: number | undefined,
  context: PayloadContext,
): PayloadFile[] {
  return items.map((item) => {
    const { fieldRef } = item;
    const value = fieldRef === undefined ? undefined : fieldValue(fieldRef.fieldPath, context.pod);
    if (value === undefined) {
      const what = fieldRef === undefined ? 'resourceFieldRef' : `the field "${fieldRef.fieldPath}"`;
      throw fail(context, `the downward API of this runtime does not offer ${what}`);
    }
    const content = Buffer.from(value, 'utf8');
    return { path: checkPath(item.path, context), content, mode: item.mode ?? mode ?? defaultFileMode };
  });
}

async function projectedFiles(
  sources: readonly VolumeProjection[],
  mode: number | undefined,
  context: PayloadContext,
): Promise<PayloadFile[]> {
  const files: PayloadFile[] = [];
  for (const { secret, configMap, downwardAPI, ...others } of sources) {
    if (secret !== undefined) {
      const { name, ...rest } = secret;
      files.push(
        ...(await secretFiles(
          { ...rest, ...(name === undefined ? {} : { secretName: name }) },
          mode,
          context,
        )),
      );
    }
    if (configMap !== undefined) files.push(...(await configMapFiles(configMap, mode, context)));
    if (downwardAPI !== undefined) files.push(...downwardFiles(downwardAPI.items ?? [], mode, context));
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      throw new PodError(
        'Unsupported',
        `volume "${context.volume}": projections of ${unknown} are not supported here`,
      );
    }
  }
  return files;
}

/** Undefined for a volume of another type. Rejects with `PodError` if it can not be filled, or with a client's error. */
export async function payloadOf(
  { secret, configMap, downwardAPI, projected }: Volume,
  context: PayloadContext,
): Promise<PayloadFile[] | undefined> {
  if (secret !== undefined) return secretFiles(secret, secret.defaultMode, context);
  if (configMap !== undefined) return configMapFiles(configMap, configMap.defaultMode, context);
  if (downwardAPI !== undefined)
    return downwardFiles(downwardAPI.items ?? [], downwardAPI.defaultMode, context);
  if (projected !== undefined) return projectedFiles(projected.sources ?? [], projected.defaultMode, context);
  return undefined;
}
