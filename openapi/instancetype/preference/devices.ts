/** What a preference says of devices. */
import type {
  DevicePreferences,
  VirtualMachinePreferenceSpec,
} from '../../generated/types/kubevirt_instancetype_v1beta1.js';
import type {
  Devices,
  Disk,
  Interface,
  VirtualMachineInstanceSpec,
} from '../../generated/types/kubevirt_v1.js';
import { prefer } from '../draft.js';

/** Which devices come by themselves: decided before any do. */
export function applyAutoattach(
  { devices: preferred }: VirtualMachinePreferenceSpec,
  devices: Devices,
): void {
  if (preferred === undefined) return;
  prefer(devices, 'autoattachGraphicsDevice', preferred.preferredAutoattachGraphicsDevice);
  prefer(devices, 'autoattachInputDevice', preferred.preferredAutoattachInputDevice);
  prefer(devices, 'autoattachMemBalloon', preferred.preferredAutoattachMemBalloon);
  prefer(devices, 'autoattachPodInterface', preferred.preferredAutoattachPodInterface);
  prefer(devices, 'autoattachSerialConsole', preferred.preferredAutoattachSerialConsole);
}

export function applyDevices(
  { devices: preferred }: VirtualMachinePreferenceSpec,
  spec: VirtualMachineInstanceSpec,
): void {
  if (preferred === undefined) return;
  const { devices } = spec.domain;
  prefer(devices, 'useVirtioTransitional', preferred.preferredUseVirtioTransitional);
  prefer(devices, 'blockMultiQueue', preferred.preferredBlockMultiQueue);
  prefer(devices, 'networkInterfaceMultiqueue', preferred.preferredNetworkInterfaceMultiQueue);
  prefer(devices, 'disableHotplug', preferred.preferredDisableHotplug);
  prefer(devices, 'rng', preferred.preferredRng);
  prefer(devices, 'tpm', preferred.preferredTPM);
  if (preferred.preferredVideoType !== undefined)
    prefer((devices.video ??= {}), 'type', preferred.preferredVideoType);
  if (devices.sound !== undefined) prefer(devices.sound, 'model', preferred.preferredSoundModel);
  for (const gpu of devices.gpus ?? [])
    prefer(gpu, 'virtualGPUOptions', preferred.preferredVirtualGPUOptions);
  for (const input of devices.inputs ?? []) {
    prefer(input, 'bus', preferred.preferredInputBus);
    prefer(input, 'type', preferred.preferredInputType);
  }
  for (const disk of devices.disks ?? []) applyToDisk(preferred, disk);
  for (const each of devices.interfaces ?? []) applyToInterface(preferred, each, spec);
  applyPanicDevices(preferred, devices);
}

function applyToDisk(preferred: DevicePreferences, disk: Disk): void {
  if (disk.cdrom !== undefined) prefer(disk.cdrom, 'bus', preferred.preferredCdromBus);
  else if (disk.lun !== undefined) prefer(disk.lun, 'bus', preferred.preferredLunBus);
  else {
    const target = (disk.disk ??= {});
    prefer(target, 'bus', preferred.preferredDiskBus);
    prefer(disk, 'blockSize', preferred.preferredDiskBlockSize);
    prefer(disk, 'cache', preferred.preferredDiskCache);
    prefer(disk, 'io', preferred.preferredDiskIO);
    // Other buses have no such thread.
    if (target.bus === 'virtio') prefer(disk, 'dedicatedIOThread', preferred.preferredDiskDedicatedIoThread);
  }
}

const bindings = [
  'bridge',
  'slirp',
  'masquerade',
  'sriov',
  'macvtap',
  'passt',
  'passtBinding',
  'binding',
] as const satisfies readonly (keyof Interface)[];

function applyToInterface(
  preferred: DevicePreferences,
  target: Interface,
  { networks = [] }: VirtualMachineInstanceSpec,
): void {
  prefer(target, 'model', preferred.preferredInterfaceModel);
  const network = networks.find(({ name }) => name === target.name);
  const unbound = bindings.every((binding) => target[binding] === undefined);
  if (unbound && network?.pod !== undefined)
    prefer(target, 'masquerade', preferred.preferredInterfaceMasquerade);
}

function applyPanicDevices({ preferredPanicDeviceModel: model }: DevicePreferences, devices: Devices): void {
  if (model === undefined) return;
  const present = devices.panicDevices ?? [];
  if (present.length === 0) devices.panicDevices = [{ model }];
  for (const device of present) prefer(device, 'model', model);
}
