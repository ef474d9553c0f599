import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings } from '../../../openapi/launcher/settings.js';
import type { DiskImage } from '../../../launcher/disks/image.js';
import { disksOf } from '../../../launcher/qemu/disks.js';
import type { Host } from '../../../launcher/qemu/host.js';
import type { MachineContext } from '../../../launcher/qemu/model.js';
import { lostFields } from './lost-fields.js';
import { all, first, parseXml, type Element } from './xml.js';
import { pciAddressOf } from './pci-address.js';

type Spec = VirtualMachineInstance['spec'];

/** A recorded VMI and the domain that was made of it. */
export interface Row {
  readonly number: number;
  readonly spec: Spec;
  readonly annotations: Readonly<Record<string, string>>;
  readonly status: VirtualMachineInstance['status'];
  readonly domain: string;
}

type Recorded = Pick<Row, 'status' | 'domain'> & {
  readonly annotations?: Row['annotations'];
  /** A domain without devices has lost the empty object. */
  readonly spec: Omit<Spec, 'domain'> & { readonly domain: Partial<Spec['domain']> };
};

const file = fileURLToPath(new URL('../testdata/domains.jsonl', import.meta.url));

export function readRows(): Row[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line, number) => {
    const { spec, annotations = {}, status, domain } = JSON.parse(line) as Recorded;
    const devices = spec.domain.devices ?? {};
    return { number, spec: { ...spec, domain: { ...spec.domain, devices } }, annotations, status, domain };
  });
}

/** As much as the smallest guest of the record has, where a row gives none. */
const someMemory = '8Mi';

/** The machine that a row describes, on a node like the one that the record was made on. */
export function contextOf({ number, spec, annotations, status, domain }: Row): MachineContext {
  const vmi: VirtualMachineInstance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'testvmi',
      namespace: 'default',
      uid: '00000000-0000-4000-8000-000000000000',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations,
    },
    spec: completed(lostFields(number, spec)),
    ...(status ? { status } : {}),
  };
  const efi = vmi.spec.domain.firmware?.bootloader?.efi;
  const { snp, tdx } = vmi.spec.domain.launchSecurity ?? {};
  const variables = (snp ?? tdx) ? undefined : 'disks/efi-variables.fd';
  const container = vmi.spec.domain.firmware?.kernelBoot?.container;
  return {
    vmi,
    settings: defaultMachineSettings,
    accelerator: 'kvm',
    images: imagesOf(vmi),
    efi: efi && { code: '/firmware/code.fd', variables },
    kernel: container && {
      kernel: container.kernelPath ? 'volumes/kernel-boot/kernel' : undefined,
      initrd: container.initrdPath ? 'volumes/kernel-boot/initrd' : undefined,
    },
    // Each network of the record is a tap device.
    taps: new Map(
      (vmi.spec.networks ?? []).map(({ name }, index) => [name, { device: `tap${index}`, vhost: true }]),
    ),
    host: hostOf(parseXml(domain)),
    now: Date.UTC(2026, 0, 1),
  };
}

function completed(spec: Spec): Spec {
  const { domain } = spec;
  const sized =
    domain.memory?.guest ?? domain.resources?.requests?.['memory'] ?? domain.resources?.limits?.['memory'];
  return {
    ...spec,
    domain: {
      ...domain,
      ...(sized === undefined ? { memory: { ...domain.memory, guest: someMemory } } : {}),
    },
  };
}

function imagesOf(vmi: VirtualMachineInstance): Map<string, DiskImage> {
  const volumes = (vmi.spec.volumes ?? []).map((volume): [string, DiskImage] => {
    const { name } = volume;
    const block =
      name.includes('block') ||
      Boolean(vmi.spec.domain.devices.disks?.some((disk) => disk.lun && disk.name === name));
    const overlay = volume.ephemeral !== undefined && !block;
    const base = { path: `volumes/${name}`, format: 'raw', storage: block ? 'block' : 'file' } as const;
    return [
      name,
      {
        volume: name,
        file: overlay ? { path: `disks/${name}.qcow2`, format: 'qcow2', storage: 'file' } : base,
        backing: overlay ? base : undefined,
        readOnly: false,
        directIO: true,
      },
    ];
  });
  const wanted = new Set(disksOf(vmi).map(({ name }) => name));
  return new Map(volumes.filter(([name]) => wanted.has(name)));
}

/** The CPUs and devices that the pod must have had, for the domain is bound to them. */
function hostOf(domain: Element): Host {
  const pins = (first(domain, 'cputune')?.children ?? []).flatMap(({ attributes }) =>
    (attributes['cpuset'] ?? '').split(',').map(Number),
  );
  const cpus = [...new Set(pins)].sort((a, b) => a - b);
  const devices = new Map<string, string[]>();
  for (const device of all(domain, 'devices', 'hostdev')) {
    const address = first(device, 'source', 'address');
    if (!address) continue;
    const gpu = first(device, 'alias')?.attributes['name']?.includes('gpu');
    const variable = `PCI_RESOURCE_EXAMPLE_COM_${gpu ? 'GPU' : 'DEVICE'}`;
    devices.set(variable, [...(devices.get(variable) ?? []), pciAddressOf(address)]);
  }
  const environment = Object.fromEntries([...devices].map(([name, found]) => [name, found.join(',')]));
  return { cpus, numaNodes: [{ id: 0, cpus }], environment };
}
