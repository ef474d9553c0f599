import { FactSheet, wholeMebibytes, type Facts } from './facts.js';
import { diskFacts } from './domain-disk-facts.js';
import { pciAddressOf } from './pci-address.js';
import { all, first, parseXml, type Element } from './xml.js';

/** The facts of a libvirt domain, by libvirt's published mapping of its elements to QEMU's options. */
export function domainFacts(xml: string): Facts {
  const domain = parseXml(xml);
  const sheet = new FactSheet();
  cpuFacts(domain, sheet);
  memoryFacts(domain, sheet);
  bootFacts(domain, sheet);
  featureFacts(domain, sheet);
  clockFacts(domain, sheet);
  tuningFacts(domain, sheet);
  deviceFacts(domain, sheet);
  for (const disk of all(domain, 'devices', 'disk')) diskFacts(disk, sheet);
  interfaceFacts(domain, sheet);
  return sheet.all;
}

const yes = (state: string | undefined) => (state === 'on' || state === 'yes' ? 'on' : 'off');

function cpuFacts(domain: Element, sheet: FactSheet): void {
  const cpu = first(domain, 'cpu');
  const { sockets, cores, threads } = first(domain, 'cpu', 'topology')?.attributes ?? {};
  sheet.set('cpu.model', cpu?.attributes['mode'] === 'custom' ? first(domain, 'cpu', 'model')?.text : 'host');
  sheet.set('cpu.topology', `${sockets} sockets, ${cores} cores, ${threads} threads`);
  const most = Number(first(domain, 'vcpu')?.text);
  const listed = all(domain, 'vcpus', 'vcpu');
  sheet.set('cpu.most', most);
  sheet.set(
    'cpu.present',
    listed.length === 0 ? most : listed.filter(({ attributes }) => attributes['enabled'] === 'yes').length,
  );
  for (const { attributes } of all(domain, 'cpu', 'feature')) {
    const { name = '', policy } = attributes;
    const off = policy === 'disable' || policy === 'forbid';
    sheet.set(`cpu.feature.${name.replaceAll('_', '-')}`, off ? 'off' : 'on');
  }
}

/** Of an x86 system that says nothing else: 2 MiB. */
const systemHugepage = 2 << 20;

function memoryFacts(domain: Element, sheet: FactSheet): void {
  sheet.set('memory.size', wholeMebibytes(Number(first(domain, 'memory')?.text)));
  const huge = first(domain, 'memoryBacking', 'hugepages');
  if (huge) {
    sheet.set('memory.hugepages', first(huge, 'page')?.attributes['size'] ?? systemHugepage);
    // libvirt takes them when the machine starts, whether the domain says so or not.
    sheet.set('memory.allocation', 'immediate');
  }
  for (const { attributes } of all(domain, 'cpu', 'numa', 'cell')) {
    const { id = '', memory, unit, cpus = '' } = attributes;
    const bytes = Number(memory) * (unit === 'KiB' ? 1024 : 1);
    sheet.set(`numa.${id}.memory`, wholeMebibytes(bytes));
    sheet.set(`numa.${id}.cpus`, cpuList(cpus).join(','));
  }
  for (const { attributes } of all(domain, 'numatune', 'memnode')) {
    sheet.set(`numa.${attributes['cellid']}.hostNode`, attributes['nodeset']);
  }
}

function cpuList(text: string): number[] {
  return text.split(',').flatMap((word) => {
    const [from = 0, to = from] = word.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function bootFacts(domain: Element, sheet: FactSheet): void {
  const loader = first(domain, 'os', 'loader');
  const firmware = first(domain, 'os')?.attributes['firmware'];
  const chosen = first(domain, 'os', 'firmware', 'feature')?.attributes['enabled'] === 'yes';
  const flash = firmware === 'efi' || loader?.attributes['type'] === 'pflash';
  if (loader?.attributes['type'] === 'rom') sheet.set('os.firmware', 'efi without variables');
  else sheet.set('os.firmware', flash ? 'efi' : 'bios');
  if (flash) sheet.set('os.secureBoot', chosen || loader?.attributes['secure'] === 'yes' ? 'on' : 'off');
  sheet.set('os.machine', first(domain, 'os', 'type')?.attributes['machine'] ?? 'q35');
  for (const tag of ['kernel', 'initrd']) sheet.set(`os.${tag}`, first(domain, 'os', tag) && 'given');
  sheet.set('os.kernelArguments', first(domain, 'os', 'cmdline')?.text);
  for (const { attributes, text } of all(domain, 'os', 'acpi', 'table')) {
    sheet.set(`os.acpiTable.${attributes['type']}`, text.replace(/^.*\/([^/]+\/[^/]+)$/, '$1'));
  }
  const menu = first(domain, 'os', 'bootmenu')?.attributes;
  if (menu) sheet.set('os.bootMenu', `${yes(menu['enable'])}, ${menu['timeout']} ms`);
  for (const { attributes, text } of all(domain, 'sysinfo', 'system', 'entry')) {
    if (text !== '') sheet.set(`smbios.system.${attributes['name']}`, text);
  }
}

/** Hyper-V features of libvirt, with QEMU's properties. */
const hyperv: Readonly<Record<string, string>> = {
  stimer: 'stimer',
  vendor_id: 'vendor-id',
  spinlocks: 'spinlocks',
};

function featureFacts(domain: Element, sheet: FactSheet): void {
  const state = (...path: string[]) => first(domain, 'features', ...path)?.attributes['state'];
  sheet.set('feature.acpi', first(domain, 'features', 'acpi') ? 'on' : 'off');
  const smm = first(domain, 'features', 'smm');
  if (smm) sheet.set('feature.smm', smm.attributes['state'] === 'off' ? 'off' : 'on');
  sheet.set('feature.vmport', state('vmport') ?? 'unsaid');
  sheet.set('feature.kvmHidden', state('kvm', 'hidden'));
  sheet.set('feature.pvspinlock', state('pvspinlock'));
  sheet.set('feature.pmu', state('pmu'));
  if (first(domain, 'features', 'hyperv')?.attributes['mode'] === 'passthrough') {
    sheet.set('feature.hyperv.passthrough', 'on');
  }
  for (const element of first(domain, 'features', 'hyperv')?.children ?? []) {
    if (element.attributes['state'] !== 'on') continue;
    const name = `feature.hyperv.${hyperv[element.tag] ?? element.tag}`;
    sheet.set(name, element.attributes['retries'] ?? element.attributes['value'] ?? 'on');
    for (const below of element.children) {
      const suffix = below.tag === 'extended' ? 'ext' : below.tag;
      if (below.attributes['state'] === 'on') sheet.set(`${name}-${suffix}`, 'on');
    }
  }
}

function clockFacts(domain: Element, sheet: FactSheet): void {
  const offset = first(domain, 'clock')?.attributes['offset'] ?? 'utc';
  sheet.set('clock.base', offset);
  for (const { attributes } of all(domain, 'clock', 'timer')) {
    const { name = '', present, tickpolicy, track, frequency } = attributes;
    // There is always a real-time clock; the others differ only where they are not as QEMU has them by itself.
    const byDefault = { rtc: 'on', kvmclock: 'on', pit: 'on', hypervclock: 'off' }[name];
    if (present !== undefined && yes(present) !== byDefault) sheet.set(`clock.${name}.present`, yes(present));
    // Only these have a policy that can be chosen, and the PIT only where there is one.
    const chosen = name === 'rtc' || (name === 'pit' && present !== 'no');
    if (chosen) sheet.set(`clock.${name}.tickPolicy`, tickpolicy);
    sheet.set(`clock.${name}.track`, track);
    sheet.set(`clock.${name}.frequency`, frequency);
  }
}

function tuningFacts(domain: Element, sheet: FactSheet): void {
  for (const { attributes } of all(domain, 'cputune', 'vcpupin')) {
    sheet.set(`pin.vcpu.${attributes['vcpu']}`, attributes['cpuset']);
  }
  for (const { attributes } of all(domain, 'cputune', 'iothreadpin')) {
    sheet.set(`pin.iothread.${attributes['iothread']}`, attributes['cpuset']);
  }
  sheet.set('pin.emulator', first(domain, 'cputune', 'emulatorpin')?.attributes['cpuset']);
  sheet.set('ioThreads', first(domain, 'iothreads')?.text);
  const security = first(domain, 'launchSecurity');
  sheet.set('security.type', security?.attributes['type']);
  const policy = security && first(security, 'policy')?.text;
  sheet.set('security.policy', policy === undefined ? undefined : Number(policy));
}

const iommu = (element: Element) => first(element, 'driver')?.attributes['iommu'] ?? 'off';

function deviceFacts(domain: Element, sheet: FactSheet): void {
  for (const device of first(domain, 'devices')?.children ?? []) {
    const { attributes } = device;
    const model = attributes['model'];
    switch (device.tag) {
      case 'controller':
        controllerFacts(device, sheet);
        break;
      case 'memballoon':
        sheet.set('device.balloon.model', model);
        sheet.set('device.balloon.freePageReporting', attributes['freePageReporting']);
        sheet.set('device.balloon.statsPeriod', first(device, 'stats')?.attributes['period']);
        sheet.set('device.balloon.iommu', iommu(device));
        break;
      case 'rng':
        sheet.set('device.rng.model', model);
        sheet.set('device.rng.source', first(device, 'backend')?.text);
        sheet.set('device.rng.iommu', iommu(device));
        break;
      case 'channel':
        sheet.set(`device.channel.${first(device, 'target')?.attributes['name']}`, 'present');
        break;
      case 'serial':
        sheet.set('device.serial', 'present');
        break;
      case 'video': {
        const { type, vram } = first(device, 'model')?.attributes ?? {};
        sheet.set('device.video.type', type);
        if (type === 'vga') sheet.set('device.video.kilobytes', vram);
        break;
      }
      case 'graphics':
        sheet.set('device.graphics', attributes['type']);
        break;
      case 'input':
        sheet.count(`device.input.${attributes['type']} on ${attributes['bus']}`);
        break;
      case 'sound':
        sheet.set('device.sound.model', model);
        break;
      case 'panic':
        sheet.count(`device.panic.${model}`);
        break;
      case 'redirdev':
        sheet.count(`device.redirected.${attributes['bus']}`);
        break;
      case 'tpm':
        sheet.set('device.tpm.model', model);
        break;
      case 'vsock':
        sheet.set('device.vsock.model', model);
        sheet.set('device.vsock.cid', first(device, 'cid')?.attributes['address']);
        break;
      case 'hostdev':
        sheet.count(
          `device.hostdev.${attributes['type']} ${pciAddressOf(first(device, 'source', 'address'))}`,
        );
        break;
    }
  }
}

function controllerFacts(controller: Element, sheet: FactSheet): void {
  const { type, model, index } = controller.attributes;
  if (model === 'none') return;
  switch (type) {
    case 'usb':
      sheet.set('device.controller.usb', model);
      break;
    case 'scsi':
    case 'virtio-serial': {
      const name = `device.controller.${type}`;
      sheet.set(`${name}.model`, model?.replace(/^virtio-scsi$/, 'virtio'));
      sheet.set(`${name}.iommu`, iommu(controller));
      sheet.set(`${name}.ioThread`, first(controller, 'driver')?.attributes['iothread']);
      sheet.set(`${name}.queues`, first(controller, 'driver')?.attributes['queues']);
      break;
    }
    default:
      sheet.set('device.controller.pci.hole64', first(controller, 'pcihole64')?.text);
      if (index !== '0') sheet.count(`device.controller.pci.${model}`);
      break;
  }
}

function interfaceFacts(domain: Element, sheet: FactSheet): void {
  for (const element of all(domain, 'devices', 'interface')) {
    const name = `device.interface.${first(element, 'alias')?.attributes['name']?.replace(/^ua-/, '')}`;
    const model = first(element, 'model')?.attributes['type'] ?? '';
    sheet.set(`${name}.model`, model);
    sheet.set(`${name}.link`, first(element, 'link')?.attributes['state'] ?? 'up');
    sheet.set(`${name}.bootOrder`, first(element, 'boot')?.attributes['order']);
    sheet.set(`${name}.bootRom`, first(element, 'rom')?.attributes['enabled'] === 'no' ? 'off' : 'on');
    sheet.set(`${name}.queues`, first(element, 'driver')?.attributes['queues'] ?? '1');
    if (model.startsWith('virtio')) sheet.set(`${name}.iommu`, iommu(element));
    const address = first(element, 'address');
    if (address) sheet.set(`${name}.address`, pciAddressOf(address));
  }
}
