/** Files of Debian packages, without installing them: apt chooses and downloads, dpkg-deb unpacks. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { extract } from 'tar-stream';
import { FileTree } from './file-tree.js';

const run = promisify(execFile);

export interface DebianPackages {
  /** `name=version`, sorted: what the image is made of. */
  readonly versions: readonly string[];
  readonly tree: FileTree;
}

/** What no program needs while it runs. Licences stay. */
const unneeded =
  /^usr\/share\/(?!doc\/[^/]+\/copyright$)(doc|man|info|locale|lintian|bug|iso-codes|xml|bash-completion|zsh|gdb|alsa|polkit-1|icons|applications|debconf|perl5|menu|doc-base)(\/|$)|^usr\/(include|games)(\/|$)|^etc\/(cron|init\.d|default|logrotate|apparmor)/;

/** Only maintainers' scripts need these, and none of those runs here. */
const onlyForInstalling = new Set([
  'adduser',
  'debconf',
  'debianutils',
  'dpkg',
  'iso-codes',
  'mawk',
  'passwd',
  'perl-base',
  'tar',
]);

/**
 * Downloads `names` with all they depend on into `directory`, as apt's lists of this machine say, and reads them.
 * Rejects with a line that says what is missing.
 */
export async function readDebianPackages(
  names: readonly string[],
  directory: string,
): Promise<DebianPackages> {
  const wanted = await download(names, directory);
  const tree = new FileTree();
  const versions: string[] = [];
  for (const { name, version, file } of wanted) {
    versions.push(`${name}=${version}`);
    await addPackage(tree, join(directory, file));
    // Where scanners look for what an image without dpkg is made of.
    tree.addFile(`var/lib/dpkg/status.d/${name}`, `Package: ${name}\nVersion: ${version}\n`);
  }
  return { versions, tree };
}

interface Download {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

async function download(names: readonly string[], directory: string): Promise<Download[]> {
  await mkdir(join(directory, 'partial'), { recursive: true });
  // An empty system: all that is needed comes, whatever this machine has.
  const status = join(directory, 'status');
  await writeFile(status, '');
  const options = [
    `Dir::State::status=${status}`,
    `Dir::Cache::archives=${directory}`,
    'APT::Install-Recommends=false',
    'Debug::NoLocking=true',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const aptGet = async (...more: string[]): Promise<string> =>
    (await run('apt-get', [...options, '-qq', '--yes', ...more, 'install', ...names], { maxBuffer: 1 << 24 }))
      .stdout;
  await aptGet('--download-only');
  // `Inst NAME (VERSION ORIGIN [ARCHITECTURE])`
  const chosen = [...(await aptGet('--simulate')).matchAll(/^Inst (\S+) \((\S+) .*\[(\S+)\]\)/gm)]
    .map(([, name = '', version = '', architecture = '']) => ({ name, version, architecture }))
    .filter(({ name }) => !onlyForInstalling.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = new Set(await readdir(directory));
  return chosen.map(({ name, version, architecture }) => {
    const file = `${name}_${version.replace(':', '%3a')}_${architecture}.deb`;
    if (!files.has(file)) throw new Error(`apt-get did not download ${file}`);
    return { name, version, file };
  });
}

async function addPackage(tree: FileTree, path: string): Promise<void> {
  const dpkg = spawn('dpkg-deb', ['--fsys-tarfile', path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(dpkg, 'close');
  for await (const entry of dpkg.stdout.pipe(extract())) {
    const { name, type, linkname, mode } = entry.header;
    const file = name.replace(/^\.?\//, '').replace(/\/$/, '');
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    if (unneeded.test(file)) continue;
    if (type === 'file') tree.addFile(file, Buffer.concat(chunks), (mode & 0o111) !== 0);
    else if (type === 'symlink' && linkname) tree.add(file, { type: 'symlink', target: linkname });
    else if (type === 'link' && linkname) addLink(tree, file, linkname);
    else if (type === 'directory') tree.add(file, { type: 'directory' });
  }
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`dpkg-deb could not read ${path}`);
}

/** Another name of a file that the same package has already brought. */
function addLink(tree: FileTree, file: string, linkname: string): void {
  const target = tree.get(linkname);
  if (target === undefined) throw new Error(`${file} is another name of ${linkname}, which is not there`);
  tree.add(file, target);
}
