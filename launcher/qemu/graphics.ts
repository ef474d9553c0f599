import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import {
  device,
  given,
  option,
  type MachineContext,
  type Part,
  type Place,
  type Properties,
} from './model.js';

const videoSlot: Place = { kind: 'root', slot: 1 };

const videoDrivers: Readonly<Record<string, string>> = {
  vga: 'VGA',
  virtio: 'virtio-vga',
  bochs: 'bochs-display',
  cirrus: 'cirrus-vga',
  ramfb: 'ramfb',
};

/** The display, shown by VNC on a unix socket; the sound card, heard by nobody. */
export function graphicsParts(context: MachineContext): Part[] {
  return [...displayParts(context), ...soundParts(context)];
}

function displayParts({ vmi }: MachineContext): Part[] {
  const { autoattachGraphicsDevice, video } = vmi.spec.domain.devices;
  if (autoattachGraphicsDevice === false) return [];
  const type = video?.type ?? 'vga';
  const driver = videoDrivers[type];
  if (driver === undefined) {
    const known = Object.keys(videoDrivers).join(', ');
    throw failure('UnsupportedField', 'spec.domain.devices.video.type', `${type} is not one of ${known}`);
  }
  const place = type === 'ramfb' ? given : videoSlot;
  const properties: Properties = type === 'vga' ? { vgamem_mb: 16 } : {};
  return [device(driver, 'video0', place, properties), option('vnc', `unix:${podLayout.vncSocket}`)];
}

function soundParts({ vmi }: MachineContext): Part[] {
  const { sound } = vmi.spec.domain.devices;
  if (!sound) return [];
  const model = sound.model ?? 'ich9';
  const silence = option('audiodev', 'none,id=audio0');
  const id = `sound-${sound.name}`;
  const group = 'sound';
  switch (model) {
    case 'ich9':
      return [
        silence,
        device('ich9-intel-hda', id, { kind: 'conventional', group }),
        device('hda-duplex', `${id}-codec`, given, { bus: `${id}.0`, cad: 0, audiodev: 'audio0' }),
      ];
    case 'ac97':
      return [silence, device('AC97', id, { kind: 'conventional', group }, { audiodev: 'audio0' })];
    default: {
      const why = `${model} is not one of ich9, ac97`;
      throw failure('UnsupportedField', 'spec.domain.devices.sound.model', why);
    }
  }
}
