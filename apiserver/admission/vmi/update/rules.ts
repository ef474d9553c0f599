/** Which rule looks at which part of a change. What is not named here, a part of this system may change freely. */
import { maximumMemory, maximumSockets } from './maxima.js';
import type { UpdateRule } from './rule.js';
import { utilityVolumes } from './utility-volumes.js';
import { hotpluggedVolumes, permanentVolumes, volumesAndDevices } from './volumes.js';

export const updateRules: Readonly<Record<string, readonly UpdateRule[]>> = {
  'domain.cpu.maxSockets, domain.memory.maxGuest': [maximumSockets, maximumMemory],
  'volumes, domain.devices.disks, domain.devices.filesystems': [
    volumesAndDevices,
    permanentVolumes,
    hotpluggedVolumes,
  ],
  utilityVolumes: [utilityVolumes],
};
