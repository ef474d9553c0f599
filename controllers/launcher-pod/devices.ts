/** Devices that a launcher pod asks its node's device plugins for. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { deviceResources } from '../../openapi/launcher/pod.js';
import { allowsEmulation, type LauncherPodSettings } from './settings.js';

/** By resource name, how many. */
export function deviceRequests(
  { spec }: VirtualMachineInstance,
  settings: LauncherPodSettings,
): Record<string, number> {
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const names = [...gpus, ...hostDevices].flatMap(({ deviceName }) => deviceName ?? []);
  if (settings.devicePlugins) names.push(...nodeDevices(spec, allowsEmulation(settings)));
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function nodeDevices({ domain }: VirtualMachineInstance['spec'], emulation: boolean): string[] {
  const { devices } = domain;
  const hasNetwork = devices.autoattachPodInterface !== false || (devices.interfaces ?? []).length > 0;
  return [
    ...(emulation ? [] : [deviceResources.kvm]),
    ...(hasNetwork ? [deviceResources.tun] : []),
    // The kernel moves the guest's packets; only with KVM can it tell the guest of them.
    ...(hasNetwork && !emulation && hasVirtioNetwork(devices) ? [deviceResources.vhostNet] : []),
  ];
}

function hasVirtioNetwork({ interfaces }: VirtualMachineInstance['spec']['domain']['devices']): boolean {
  return interfaces === undefined || interfaces.some(({ model = 'virtio' }) => model === 'virtio');
}
