/** Debian packages, downloaded and unpacked without installing them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export class PackageError extends Error {
  override readonly name = 'PackageError';
}

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[], cwd?: string): Result {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (error !== undefined) {
    throw new PackageError(
      `cannot run ${command} (${error.message}); the guest is made from Debian packages with apt`,
    );
  }
  return { status, stdout, stderr };
}

/** Downloads into one directory and keeps what is there already. */
export class PackageSource {
  private options: string[];

  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
    // Containers often keep no parsed package lists, so that each call would parse them anew.
    const caches = ['pkgcache', 'srcpkgcache'].map(
      (name) => `Dir::Cache::${name}=${join(directory, name)}.bin`,
    );
    const sandbox = process.getuid?.() === 0 ? ['APT::Sandbox::User=root'] : [];
    this.options = [...caches, ...sandbox].flatMap((option) => ['-o', option]);
  }

  /** Refreshes the package lists: the machine's own as root, else private ones. */
  private update(): void {
    if (process.getuid?.() !== 0) {
      const state = join(this.directory, 'apt');
      mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
      mkdirSync(join(state, 'archives', 'partial'), { recursive: true });
      this.options.push('-o', `Dir::State::Lists=${state}/lists`, '-o', `Dir::Cache=${state}`);
    }
    const { status, stderr } = run('apt-get', [...this.options, '-q', 'update']);
    if (status !== 0) throw new PackageError(`apt-get update failed:\n${stderr}`);
  }

  private cache(...args: string[]): Result {
    return run('apt-cache', [...this.options, ...args]);
  }

  /** The first of the names that the package lists have; fresh lists are fetched if they have none. */
  firstAvailable(names: readonly string[]): string {
    const search = (): string | undefined =>
      names.find((name) => this.cache('show', '--no-all-versions', name).stdout.includes('\nFilename:'));
    let found = search();
    if (found === undefined) {
      this.update();
      found = search();
    }
    if (found === undefined) {
      throw new PackageError(`the package lists have none of: ${names.join(', ')} (Debian or Ubuntu, amd64)`);
    }
    return found;
  }

  /** What each of the packages, and each that it leads to, names in its Depends; virtual packages are left out. */
  private dependencyGraph(names: readonly string[], recurse: boolean): Map<string, string[]> {
    const { stdout } = this.cache('depends', '--important', ...(recurse ? ['--recurse'] : []), ...names);
    const graph = new Map<string, string[]>();
    let dependencies: string[] = [];
    for (const line of stdout.split('\n')) {
      const dependency = /^ [ |](?:Pre)?Depends: ([^<\s]+)$/.exec(line)?.[1];
      if (dependency !== undefined) dependencies.push(dependency);
      else if (/^\S/.test(line)) graph.set(line, (dependencies = []));
    }
    return graph;
  }

  /** The concrete packages that a package names in its Depends. */
  dependencies(name: string): string[] {
    return this.dependencyGraph([name], false).get(name) ?? [];
  }

  /** The packages and their libraries: everything they depend on whose name starts as libraries' names do. */
  withLibraries(names: readonly string[]): string[] {
    const graph = this.dependencyGraph(names, true);
    const found = new Set<string>();
    const visit = (name: string): void => {
      if (found.has(name)) return;
      found.add(name);
      (graph.get(name) ?? []).filter((dependency) => /^(lib|zlib)/.test(dependency)).forEach(visit);
    };
    names.forEach(visit);
    return [...found].sort();
  }

  /** What apt would download for the packages. */
  private files(names: readonly string[]): { file: string; size: number }[] {
    const result = run('apt-get', [...this.options, 'download', '--print-uris', ...names]);
    const wanted = [...result.stdout.matchAll(/^'[^']*' (\S+) (\d+) /gm)].flatMap(([, file, size]) =>
      file === undefined ? [] : [{ file, size: Number(size) }],
    );
    if (result.status !== 0 || wanted.length < names.length) {
      throw new PackageError(`apt-get cannot find all of ${names.join(', ')}:\n${result.stderr}`);
    }
    return wanted;
  }

  private fetchMissing(names: readonly string[]): { status: number | null; stderr: string; paths: string[] } {
    const wanted = this.files(names);
    const paths = wanted.map(({ file }) => join(this.directory, file));
    const missing = wanted.filter(({ file, size }) => {
      const path = join(this.directory, file);
      return !existsSync(path) || statSync(path).size !== size;
    });
    if (missing.length === 0) return { status: 0, stderr: '', paths };
    const packages = missing.map(({ file }) => file.slice(0, file.indexOf('_')));
    return { ...run('apt-get', [...this.options, '-q', 'download', ...packages], this.directory), paths };
  }

  /** Downloads packages; answers the paths of their files, which carry their versions. */
  private download(names: readonly string[]): string[] {
    let fetched = this.fetchMissing(names);
    if (fetched.status !== 0) {
      // Lists that are older than the archive name versions that are gone.
      this.update();
      fetched = this.fetchMissing(names);
    }
    if (fetched.status !== 0) throw new PackageError(`apt-get download failed:\n${fetched.stderr}`);
    return fetched.paths;
  }

  /** Downloads and unpacks packages into `target`; answers the file names, with versions. */
  unpack(names: readonly string[], target: string): string[] {
    mkdirSync(target, { recursive: true });
    const files = this.download(names);
    for (const file of files) {
      const { status, stderr } = run('dpkg-deb', ['--extract', file, target]);
      if (status !== 0) throw new PackageError(`cannot unpack ${file}:\n${stderr}`);
    }
    return files;
  }
}
