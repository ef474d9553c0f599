/** Programs that the build runs: the machine's own, or else unpacked from their Debian package. */
import { execFileSync, type ExecFileSyncOptions } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageSource } from './packages.js';

const packageOf = {
  mke2fs: 'e2fsprogs',
  debugfs: 'e2fsprogs',
  mformat: 'mtools',
  mcopy: 'mtools',
  syslinux: 'syslinux',
  'qemu-img': 'qemu-utils',
  xz: 'xz-utils',
  zstd: 'zstd',
} as const;

export type ToolName = keyof typeof packageOf;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export class Tools {
  private readonly unpacked = new Set<string>();
  private readonly environment: NodeJS.ProcessEnv;

  constructor(
    private readonly packages: PackageSource,
    /** Where packages of missing tools are unpacked. */
    private readonly directory: string,
  ) {
    const below = (...paths: string[]): string[] => paths.map((path) => join(directory, path));
    // Fixed times make equal inputs give equal images.
    this.environment = {
      ...process.env,
      PATH: [
        ...(process.env['PATH'] ?? '').split(':'),
        '/usr/sbin',
        '/sbin',
        ...below('usr/bin', 'usr/sbin', 'bin', 'sbin'),
      ].join(':'),
      SOURCE_DATE_EPOCH: '0',
      E2FSPROGS_FAKE_TIME: '1',
      MTOOLS_SKIP_CHECK: '1',
    };
  }

  /** A data file of a package, such as a boot sector. */
  file(packageName: string, path: string): string {
    this.unpack(packageName);
    return join(this.directory, path);
  }

  private unpack(packageName: string): void {
    if (this.unpacked.has(packageName)) return;
    this.packages.unpack(this.packages.withLibraries([packageName]), this.directory);
    this.unpacked.add(packageName);
    const libraries = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((path) =>
      join(this.directory, path),
    );
    this.environment['LD_LIBRARY_PATH'] = libraries.filter((path) => existsSync(path)).join(':');
  }

  /** Makes sure that a tool is there. */
  require(name: ToolName): void {
    const path = (this.environment['PATH'] ?? '').split(':');
    if (!path.some((directory) => isExecutable(join(directory, name)))) this.unpack(packageOf[name]);
  }

  run(name: ToolName, args: readonly string[], options: ExecFileSyncOptions = {}): Buffer {
    this.require(name);
    return execFileSync(name, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      maxBuffer: 256 * 1024 * 1024,
      ...options,
      env: this.environment,
      encoding: 'buffer',
    });
  }
}
