import type { CommandLine } from '../../../launcher/qemu/assemble.js';
import type { Arguments } from './arguments.js';
import { text, type Properties } from './arguments.js';
import type { FactSheet } from './facts.js';

interface Machine {
  readonly sheet: FactSheet;
  readonly blockdevs: ReadonlyMap<string, Properties>;
  readonly commands: CommandLine['commands'];
}

export function deviceFacts(given: Arguments, commands: CommandLine['commands'], sheet: FactSheet): void {
  const blockdevs = new Map(given.objects('blockdev').map((node) => [text(node['node-name']) ?? '', node]));
  const machine: Machine = { sheet, blockdevs, commands };
  for (const device of given.objects('device')) oneDevice(device, machine);
  if (given.all('vnc').length > 0) sheet.set('device.graphics', 'vnc');
  const threads = given.objects('object').filter((object) => object['qom-type'] === 'iothread').length;
  if (threads > 0) sheet.set('ioThreads', threads);
  for (const object of given.objects('object')) {
    if (object['qom-type'] === 'rng-random') sheet.set('device.rng.source', text(object['filename']));
  }
}

const videos: Readonly<Record<string, string>> = {
  VGA: 'vga',
  'virtio-vga': 'virtio',
  'bochs-display': 'bochs',
  'cirrus-vga': 'cirrus',
  ramfb: 'ramfb',
};
const inputs: Readonly<Record<string, string>> = {
  'usb-tablet': 'tablet on usb',
  'usb-kbd': 'keyboard on usb',
  'virtio-tablet-pci': 'tablet on virtio',
  'virtio-keyboard-pci': 'keyboard on virtio',
};

function oneDevice(device: Properties, machine: Machine): void {
  const { sheet } = machine;
  const driver = text(device['driver']) ?? '';
  const id = text(device['id']) ?? '';
  const iommu = device['iommu_platform'] === true ? 'on' : 'off';
  const video = videos[driver];
  const input = inputs[driver];
  const variant = driver.replace(/^.*-pci(-|$)/, 'virtio-').replace(/-$/, '');
  if (video !== undefined) {
    sheet.set('device.video.type', video);
    if (video === 'vga') sheet.set('device.video.kilobytes', Number(device['vgamem_mb']) * 1024);
  } else if (input !== undefined) sheet.count(`device.input.${input}`);
  else if (id.startsWith('disk-')) diskFacts(device, driver, variant, machine);
  else if (id.startsWith('net-')) interfaceFacts(device, driver, variant, machine);
  else if (driver.startsWith('vfio-pci')) sheet.count(`device.hostdev.pci ${text(device['host'])}`);
  else if (driver.startsWith('virtio-balloon')) {
    sheet.set('device.balloon.model', variant);
    sheet.set('device.balloon.freePageReporting', device['free-page-reporting'] === true ? 'on' : 'off');
    sheet.set('device.balloon.statsPeriod', text(device['guest-stats-polling-interval']));
    sheet.set('device.balloon.iommu', iommu);
  } else if (driver.startsWith('virtio-rng')) {
    sheet.set('device.rng.model', variant);
    sheet.set('device.rng.iommu', iommu);
  } else if (driver.startsWith('virtio-scsi') || driver.startsWith('virtio-serial')) {
    const name = `device.controller.${driver.startsWith('virtio-scsi') ? 'scsi' : 'virtio-serial'}`;
    sheet.set(`${name}.model`, variant);
    sheet.set(`${name}.iommu`, iommu);
    sheet.set(`${name}.ioThread`, text(device['iothread'])?.replace('iothread', ''));
    sheet.set(`${name}.queues`, text(device['num_queues']));
  } else if (driver.startsWith('vhost-vsock')) {
    sheet.set('device.vsock.model', variant);
    sheet.set('device.vsock.cid', text(device['guest-cid']));
  } else simpleDevice(driver, device, sheet);
}

function simpleDevice(driver: string, device: Properties, sheet: FactSheet): void {
  switch (driver) {
    case 'qemu-xhci':
      sheet.set('device.controller.usb', driver);
      break;
    case 'virtserialport':
      sheet.set(`device.channel.${text(device['name'])}`, 'present');
      break;
    case 'isa-serial':
      sheet.set('device.serial', 'present');
      break;
    case 'ich9-intel-hda':
      sheet.set('device.sound.model', 'ich9');
      break;
    case 'AC97':
      sheet.set('device.sound.model', 'ac97');
      break;
    case 'usb-redir':
      sheet.count('device.redirected.usb');
      break;
    case 'tpm-tis':
    case 'tpm-crb':
      sheet.set('device.tpm.model', driver);
      break;
    case 'pvpanic':
      sheet.count('device.panic.isa');
      break;
    case 'pvpanic-pci':
      sheet.count('device.panic.pvpanic');
      break;
  }
}

/** A device's place, where the spec chose it: a slot of pcie.0, or of an expander bus. */
function chosenAddress(device: Properties): string | undefined {
  const bus = /^pci\.expander(\d+)\.\w+$/.exec(text(device['bus']) ?? '')?.[1];
  if (bus === undefined) return undefined;
  const [slot = '', fn = ''] = (text(device['addr']) ?? '').split('.').map((word) => word.replace('0x', ''));
  return `0000:${Number(bus).toString(16).padStart(2, '0')}:${slot.padStart(2, '0')}.${fn}`;
}

const buses: readonly (readonly [driver: RegExp, bus: string, device: string])[] = [
  [/^virtio-blk/, 'virtio', 'disk'],
  [/^scsi-hd/, 'scsi', 'disk'],
  [/^scsi-cd/, 'scsi', 'cdrom'],
  [/^scsi-block/, 'scsi', 'lun'],
  [/^ide-hd/, 'sata', 'disk'],
  [/^ide-cd/, 'sata', 'cdrom'],
  [/^usb-storage/, 'usb', 'disk'],
];

function diskFacts(
  device: Properties,
  driver: string,
  variant: string,
  { sheet, blockdevs, commands }: Machine,
): void {
  const id = text(device['id']) ?? '';
  const name = `device.disk.${id.replace(/^disk-/, '')}`;
  const [, bus = '', kind = ''] = buses.find(([pattern]) => pattern.test(driver)) ?? [];
  const drive = text(device['drive']);
  const node = drive === undefined ? undefined : blockdevs.get(drive);
  sheet.set(`${name}.device`, kind);
  sheet.set(`${name}.bus`, bus);
  if (bus === 'virtio') {
    sheet.set(`${name}.model`, variant);
    sheet.set(`${name}.iommu`, device['iommu_platform'] === true ? 'on' : 'off');
    sheet.set(`${name}.queues`, text(device['num-queues']));
  }
  sheet.set(`${name}.serial`, text(device['serial']));
  sheet.set(`${name}.readOnly`, kind === 'cdrom' || node?.['read-only'] === true ? 'on' : 'off');
  if (kind === 'cdrom') {
    const open = commands.some(
      ({ execute, arguments: given }) => execute === 'blockdev-open-tray' && given['id'] === id,
    );
    sheet.set(`${name}.tray`, open ? 'open' : 'closed');
    if (drive === undefined) sheet.set(`${name}.medium`, 'none');
  } else {
    sheet.set(`${name}.errorPolicy`, device['werror'] === 'enospc' ? 'enospace' : text(device['werror']));
    sheet.set(`${name}.discard`, text(node?.['discard']));
  }
  const cache = node?.['cache'] as Properties | undefined;
  const file = node?.['file'] as Properties | undefined;
  if (cache) sheet.set(`${name}.cache`, cacheMode(cache, text(device['write-cache'])));
  sheet.set(`${name}.io`, text(file?.['aio']));
  sheet.set(`${name}.ioThread`, text(device['iothread'])?.replace('iothread', ''));
  sheet.set(`${name}.address`, chosenAddress(device));
  if (bus === 'scsi') sheet.set(`${name}.unit`, text(device['lun']));
  if (file?.['pr-manager'] !== undefined) sheet.set(`${name}.reservations`, 'on');
  sheet.set(`${name}.bootOrder`, text(device['bootindex']));
}

function cacheMode(cache: Properties, writeCache: string | undefined): string {
  if (cache['direct'] === true) return 'none';
  return writeCache === 'off' ? 'writethrough' : 'writeback';
}

function interfaceFacts(
  device: Properties,
  driver: string,
  variant: string,
  { sheet, commands }: Machine,
): void {
  const id = text(device['id']) ?? '';
  const name = `device.interface.${id.replace(/^net-/, '')}`;
  const virtio = driver.startsWith('virtio-net');
  sheet.set(`${name}.model`, virtio ? variant : driver);
  const down = commands.some(
    ({ execute, arguments: given }) =>
      execute === 'set_link' && given['name'] === id && given['up'] === false,
  );
  sheet.set(`${name}.link`, down ? 'down' : 'up');
  sheet.set(`${name}.bootOrder`, text(device['bootindex']));
  sheet.set(`${name}.bootRom`, device['romfile'] === '' ? 'off' : 'on');
  sheet.set(`${name}.queues`, device['mq'] === true ? (Number(device['vectors']) - 2) / 2 : 1);
  if (virtio) sheet.set(`${name}.iommu`, device['iommu_platform'] === true ? 'on' : 'off');
  sheet.set(`${name}.address`, chosenAddress(device));
}
