/** What an architecture's machines do not have. */
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, notSupported, unknownWord, type FieldPath } from '../../causes.js';
import type { SpecRule } from './rule.js';

const architectures = ['amd64', 'arm64', 's390x'];
const videoTypes: Readonly<Record<string, readonly string[]>> = {
  amd64: ['vga', 'cirrus', 'virtio', 'ramfb', 'bochs'],
  arm64: ['virtio', 'ramfb'],
  s390x: ['virtio'],
};

export const architecture: SpecRule = ({ spec, at }) => {
  const name = spec.architecture ?? '';
  if (!architectures.includes(name))
    return [invalid(at.child('architecture'), unknownWord(name, architectures))];
  const devices = at.child('domain', 'devices');
  const { watchdog, video } = spec.domain.devices;
  const causes: StatusCause[] = [];
  const types = videoTypes[name] ?? [];
  if (video !== undefined && !types.includes(video.type ?? '')) {
    causes.push(notSupported(devices.child('video', 'type'), unknownWord(video.type ?? '', types)));
  }
  if (
    name === 'amd64' &&
    watchdog !== undefined &&
    (watchdog.i6300esb === undefined || watchdog.diag288 !== undefined)
  ) {
    causes.push(notSupported(devices.child('watchdog'), 'amd64 has the i6300esb watchdog only'));
  }
  if (
    name === 's390x' &&
    watchdog !== undefined &&
    (watchdog.diag288 === undefined || watchdog.i6300esb !== undefined)
  ) {
    causes.push(notSupported(devices.child('watchdog'), 's390x has the diag288 watchdog only'));
  }
  return name === 'arm64' ? [...causes, ...arm64(spec, at)] : causes;
};

function arm64(spec: Parameters<SpecRule>[0]['spec'], at: FieldPath): StatusCause[] {
  const { cpu, firmware, devices } = spec.domain;
  const inDevices = at.child('domain', 'devices');
  const causes: StatusCause[] = [];
  if (firmware?.bootloader?.bios !== undefined) {
    causes.push(notSupported(at.child('domain', 'firmware', 'bootloader', 'bios'), 'arm64 boots by efi'));
  }
  const model = cpu?.model ?? '';
  if (model !== '' && model !== 'host-passthrough') {
    causes.push(notSupported(at.child('domain', 'cpu', 'model'), unknownWord(model, ['host-passthrough'])));
  }
  for (const [index, disk] of (devices.disks ?? []).entries()) {
    for (const target of ['disk', 'cdrom', 'lun'] as const) {
      const bus = disk[target]?.bus ?? '';
      if (!['', 'virtio', 'scsi'].includes(bus)) {
        causes.push(
          notSupported(
            inDevices.child('disks').index(index).child(target, 'bus'),
            unknownWord(bus, ['virtio', 'scsi']),
          ),
        );
      }
    }
  }
  for (const name of ['watchdog', 'sound'] as const) {
    if (devices[name] !== undefined)
      causes.push(notSupported(inDevices.child(name), `arm64 has no ${name} device`));
  }
  return causes;
}
