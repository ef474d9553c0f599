import type { FactSheet } from './facts.js';
import { pciAddressOf } from './pci-address.js';
import { first, type Element } from './xml.js';

/** What a domain says of one disk. Where it leaves the bus open there is no model to compare either. */
export function diskFacts(disk: Element, sheet: FactSheet): void {
  const name = `device.disk.${first(disk, 'alias')?.attributes['name']?.replace(/^ua-/, '')}`;
  const { device = '', model } = disk.attributes;
  const { bus, tray } = first(disk, 'target')?.attributes ?? {};
  const driver = first(disk, 'driver')?.attributes ?? {};
  sheet.set(`${name}.device`, device === '' ? undefined : device);
  sheet.set(`${name}.bus`, bus);
  sheet.set(`${name}.model`, model);
  sheet.set(`${name}.serial`, first(disk, 'serial')?.text);
  sheet.set(`${name}.readOnly`, first(disk, 'readonly') || device === 'cdrom' ? 'on' : 'off');
  if (device === 'cdrom') sheet.set(`${name}.tray`, tray ?? 'closed');
  const source = first(disk, 'source')?.attributes ?? {};
  if (device === 'cdrom' && Object.keys(source).length === 0) sheet.set(`${name}.medium`, 'none');
  sheet.set(`${name}.cache`, driver['cache']);
  sheet.set(`${name}.io`, driver['io']);
  if (device !== 'cdrom') {
    sheet.set(`${name}.errorPolicy`, driver['error_policy']);
    sheet.set(`${name}.discard`, driver['discard']);
  }
  const threads = first(disk, 'driver', 'iothreads')?.children.map(({ attributes }) => attributes['id']);
  sheet.set(`${name}.ioThread`, threads?.join(',') ?? driver['iothread']);
  sheet.set(`${name}.queues`, driver['queues']);
  if (bus === 'virtio' && device !== 'cdrom') sheet.set(`${name}.iommu`, driver['iommu'] ?? 'off');
  const address = first(disk, 'address');
  if (address?.attributes['type'] === 'pci') sheet.set(`${name}.address`, pciAddressOf(address));
  if (address?.attributes['type'] === 'drive') sheet.set(`${name}.unit`, address.attributes['unit']);
  if (first(disk, 'source', 'reservations')) sheet.set(`${name}.reservations`, 'on');
  sheet.set(`${name}.bootOrder`, first(disk, 'boot')?.attributes['order']);
}
