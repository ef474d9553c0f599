/** Writes images as OCI archives: `ctr images import`, `podman load` and `skopeo` read them. */
import type { FileEntry } from './file-tree.js';
import { makeArchive, sha256, type Layer } from './layer.js';

export interface ImageConfig {
  /** Without a tag. */
  readonly name: string;
  readonly tag: string;
  readonly architecture: string;
  readonly entrypoint: readonly string[];
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

interface Blob {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface OciArchive {
  readonly archive: Buffer;
  /** Of the manifest: what `name@digest` means. */
  readonly digest: string;
}

/** `epoch`: when the image was made, in seconds. The same layers, config and time make the same bytes. */
export async function makeOciArchive(
  config: ImageConfig,
  layers: readonly Layer[],
  epoch: number,
): Promise<OciArchive> {
  const blobs = new Map<string, Buffer>();
  const addBlob = (mediaType: string, content: Buffer): Blob => {
    const digest = sha256(content);
    blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  };
  const manifest = addBlob(
    'application/vnd.oci.image.manifest.v1+json',
    json({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: addBlob('application/vnd.oci.image.config.v1+json', json(configBlob(config, layers, epoch))),
      layers: layers.map(({ compressed }) =>
        addBlob('application/vnd.oci.image.layer.v1.tar+gzip', compressed),
      ),
    }),
  );
  const { name, tag, architecture } = config;
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { os: 'linux', architecture },
        annotations: {
          // containerd takes the whole name from here, others from the second.
          'io.containerd.image.name': `${name}:${tag}`,
          'org.opencontainers.image.ref.name': `${name}:${tag}`,
        },
      },
    ],
  };
  const file = (content: Buffer): FileEntry => ({ type: 'file', executable: false, content });
  const entries = [
    { name: 'oci-layout', entry: file(json({ imageLayoutVersion: '1.0.0' })) },
    { name: 'index.json', entry: file(json(index)) },
    ...[...blobs]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([digest, content]) => ({ name: `blobs/${digest.replace(':', '/')}`, entry: file(content) })),
  ];
  return { archive: await makeArchive(entries, epoch), digest: manifest.digest };
}

function configBlob(config: ImageConfig, layers: readonly Layer[], epoch: number): unknown {
  const created = new Date(epoch * 1000).toISOString();
  return {
    created,
    architecture: config.architecture,
    os: 'linux',
    config: {
      User: config.user,
      Env: Object.entries(config.environment).map(([key, value]) => `${key}=${value}`),
      Entrypoint: config.entrypoint,
      WorkingDir: '/',
      Labels: config.labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(() => ({ created, created_by: 'npm run image' })),
  };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
