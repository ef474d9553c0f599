/** `npm run image [-- --output DIR]`: an OCI archive of each image, from Debian packages, this Node, and dist/. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { nativirtVersion } from '../version.js';
import { readDebianPackages } from './debian-packages.js';
import { FileTree } from './file-tree.js';
import { addBase, applicationTree, basePackages, images, type ImageSource } from './images.js';
import { makeLayer, type Layer } from './layer.js';
import { makeOciArchive } from './oci-archive.js';
import { imageName } from './names.js';

const root = resolve(import.meta.dirname, '../..');
const usage = `Usage: npm run image [-- FLAGS]

Writes OCI archives of all images into build/image: load them with \`ctr -n k8s.io images import FILE\`.

  --output DIR   where to write (default: build/image)
  --only NAMES   only these images, separated by commas: ${images.map(({ name }) => name).join(', ')}
  --help         this text

SOURCE_DATE_EPOCH is the time of all files, in seconds; 0 if it is not set, so that only what is in an image changes its digest.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { output: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  const output = resolve(values.output ?? join(root, 'build/image'));
  const epoch = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);
  if (!Number.isSafeInteger(epoch) || epoch < 0)
    throw new Error('SOURCE_DATE_EPOCH must be a whole number of seconds');
  const chosen = values.only === undefined ? images : chooseImages(values.only.split(','));
  await mkdir(output, { recursive: true });
  const downloads = join(root, 'build/debian');
  const base = await readDebianPackages(basePackages, downloads);
  await addBase(base.tree, process.execPath);
  const baseLayer = await makeLayer(base.tree, epoch);
  for (const image of chosen) {
    const tools = await toolsLayer(image, base.tree, downloads, epoch);
    const application = await makeLayer(await applicationTree(image, root), epoch);
    await writeImage(image, [baseLayer, ...tools, application], output, epoch);
  }
}

function chooseImages(names: readonly string[]): ImageSource[] {
  return names.map((name) => {
    const image = images.find((each) => each.name === name);
    if (image === undefined)
      throw new Error(`there is no image ${name}; there are ${images.map((each) => each.name).join(', ')}`);
    return image;
  });
}

/** The packages of an image without what the base has. */
async function toolsLayer(
  { packages }: ImageSource,
  base: FileTree,
  downloads: string,
  epoch: number,
): Promise<Layer[]> {
  if (packages.length === 0) return [];
  const { tree } = await readDebianPackages(packages, downloads);
  const more = new FileTree();
  for (const [path, entry] of tree.entries()) if (base.get(path) === undefined) more.add(path, entry);
  return [await makeLayer(more, epoch)];
}

async function writeImage(
  image: ImageSource,
  layers: readonly Layer[],
  output: string,
  epoch: number,
): Promise<void> {
  const { name, user, entrypoint, environment, description } = image;
  const labels = {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.version': nativirtVersion,
    'org.opencontainers.image.licenses': 'Apache-2.0',
  };
  const { archive, digest } = await makeOciArchive(
    {
      name: imageName(name),
      tag: nativirtVersion,
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      entrypoint,
      user,
      environment,
      labels,
    },
    layers,
    epoch,
  );
  const file = join(output, `${name}.tar`);
  await writeFile(`${file}.new`, archive);
  await rename(`${file}.new`, file);
  process.stdout.write(
    `image: ${file} ${(archive.length / 1e6).toFixed(0)} MB ${imageName(name)}:${nativirtVersion}@${digest}\n`,
  );
}

try {
  await main();
} catch (error) {
  process.stderr.write(`image: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
