/** Chooses kernel modules, with what they depend on, and writes the tables that modprobe reads. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { moduleInformation } from './elf.js';
import type { Tree } from './tree.js';

/** What finds and mounts a root disk, on every bus. */
export const storageModules = [
  ['virtio_pci', 'virtio_blk', 'virtio_scsi', 'sd_mod', 'sr_mod', 'ahci', 'ata_piix', 'nvme'],
  ['xhci_pci', 'ehci_pci', 'uhci_hcd', 'usb_storage', 'uas', 'ext4', 'crc32c_generic'],
].flat();

/** What else a virtual machine may have. */
export const deviceModules = [
  ['virtio_net', 'e1000', 'e1000e', 'igb', '8139cp', '8139too', 'ne2k_pci', 'pcnet32', 'vmxnet3'],
  [
    'virtio_console',
    'virtio_balloon',
    'virtio_rng',
    'virtio_input',
    'virtio_mem',
    'virtiofs',
    '9p',
    '9pnet_virtio',
  ],
  [
    'vmw_vsock_virtio_transport',
    'button',
    'evdev',
    'usbhid',
    'hid_generic',
    'i6300esb',
    'iTCO_wdt',
    'qemu_fw_cfg',
    'pvpanic_mmio',
    'pvpanic_pci',
  ],
  ['isofs', 'vfat', 'nls_cp437', 'nls_ascii', 'nls_utf8', 'nls_iso8859_1', 'tpm_crb', 'tpm_tis', 'loop'],
].flat();

interface Module {
  readonly name: string;
  /** Below /usr/lib/modules/VERSION. */
  readonly path: string;
  readonly data: Buffer;
  readonly depends: readonly string[];
  readonly aliases: readonly string[];
}

function canonical(name: string): string {
  return name.replaceAll('-', '_');
}

function decompress(file: string): Buffer {
  if (file.endsWith('.ko')) return readFileSync(file);
  const tool = file.endsWith('.zst') ? 'zstd' : file.endsWith('.xz') ? 'xz' : 'gzip';
  return execFileSync(tool, ['-dc', file], { maxBuffer: 64 * 1024 * 1024 });
}

/** The modules of one kernel package, by name. Files are read when they are asked for. */
export class KernelModules {
  private readonly files = new Map<string, string>();
  private readonly read = new Map<string, Module>();

  /** @param directory …/lib/modules/VERSION of an unpacked kernel package. */
  constructor(private readonly directory: string) {
    for (const path of readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()) {
      const match = /([^/]+)\.ko(\.xz|\.zst|\.gz)?$/.exec(path);
      if (match?.[1] !== undefined) this.files.set(canonical(match[1]), path);
    }
  }

  get version(): string {
    return basename(this.directory);
  }

  private get(name: string): Module | undefined {
    const known = this.read.get(name);
    if (known !== undefined) return known;
    const path = this.files.get(name);
    if (path === undefined) return undefined;
    const data = decompress(join(this.directory, path));
    const information = moduleInformation(data);
    const values = (key: string): string[] =>
      information.flatMap(([name, value]) => (name === key ? [value] : []));
    // "softdep=pre: a b post: c": what comes before belongs to it as well.
    const soft = values('softdep').flatMap(
      (text) => /pre: *([^:]*?)(?: post:|$)/.exec(text)?.[1]?.split(' ') ?? [],
    );
    const module = {
      name,
      path: path.replace(/\.ko\..*$/, '.ko'),
      data,
      depends: [...values('depends').flatMap((text) => text.split(',')), ...soft]
        .map(canonical)
        .filter((dependency) => this.files.has(dependency)),
      aliases: values('alias'),
    };
    this.read.set(name, module);
    return module;
  }

  /** The named modules and all they need, dependencies first. A name that this kernel has not (or has built in) is left out. */
  closure(names: readonly string[]): Module[] {
    const chosen = new Map<string, Module>();
    const visit = (name: string): void => {
      const module = this.get(name);
      if (module === undefined || chosen.has(name)) return;
      module.depends.forEach(visit);
      chosen.set(name, module);
    };
    names.map(canonical).forEach(visit);
    return [...chosen.values()];
  }

  /** Adds modules with modules.dep and modules.alias, as depmod would for these alone. */
  install(tree: Tree, names: readonly string[]): void {
    const modules = this.closure(names);
    const root = `/usr/lib/modules/${this.version}`;
    const dependencies = modules.map((module) => {
      const needed = this.closure([module.name]).filter(({ name }) => name !== module.name);
      return `${module.path}: ${needed
        .reverse()
        .map(({ path }) => path)
        .join(' ')}`.trimEnd();
    });
    for (const module of modules) tree.file(`${root}/${module.path}`, module.data);
    tree.file(`${root}/modules.dep`, `${dependencies.join('\n')}\n`);
    tree.file(
      `${root}/modules.alias`,
      modules.flatMap(({ name, aliases }) => aliases.map((alias) => `alias ${alias} ${name}\n`)).join(''),
    );
    tree.file(`${root}/modules.symbols`, '');
  }
}
