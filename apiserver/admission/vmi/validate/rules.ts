/** Which rule looks at which part of a VMI spec. Read it as the table of contents of this folder. */
import { accessCredentials } from './access-credentials.js';
import { architecture } from './architecture.js';
import { negativeCounts } from './counts.js';
import { cpuFeatures, cpuSockets, dedicatedCpus, isolatedEmulatorThread, numa, realtime } from './cpu.js';
import { featureGated, inputs, ioThreads, panicDevices, ramFramebuffers, sound, video } from './devices.js';
import { disks, diskVolumes, persistentReservation } from './disks.js';
import { acpiTables, bootloader, kernelBoot, machineType } from './firmware.js';
import { graceGpus } from './grace.js';
import { hyperv } from './hyperv.js';
import { launchSecurity } from './launch-security.js';
import { evictionStrategy, probes, startStrategy } from './lifecycle.js';
import { dns, hostname, serviceAccount } from './names.js';
import { discontinuedBindings, interfaces, networks } from './network.js';
import { resourceClaims } from './resource-claims.js';
import { cpuResources, guestWithinLimit, hugepages, memoryResources } from './resources.js';
import type { SpecRule } from './rule.js';
import { affinity, tolerations, topologySpread } from './scheduling.js';
import { containerDiskPaths, utilityVolumes, virtiofs, volumes, volumesAttached } from './volumes.js';

/** Of every spec: a VMI's own, and those in the templates of VMs, replica sets and pools. */
export const specRules: Readonly<Record<string, readonly SpecRule[]>> = {
  'hostname, subdomain': [hostname],
  'dnsPolicy, dnsConfig': [dns],
  serviceAccountName: [serviceAccount],
  'domain.resources, domain.memory': [memoryResources, cpuResources, hugepages, guestWithinLimit],
  'domain.cpu': [dedicatedCpus, numa, isolatedEmulatorThread, cpuFeatures, cpuSockets, realtime],
  'domain.cpu, ioThreads, features.hyperv.spinlocks: counts': [negativeCounts],
  'domain.machine': [machineType],
  'domain.firmware, domain.features.smm': [acpiTables, bootloader, kernelBoot],
  'domain.launchSecurity': [launchSecurity],
  'domain.devices.disks': [disks, diskVolumes, persistentReservation],
  'domain.devices.filesystems': [virtiofs],
  'domain.devices.inputs, sound, video, gpus, panicDevices': [
    inputs,
    sound,
    video,
    ramFramebuffers,
    panicDevices,
    graceGpus,
  ],
  'domain.ioThreadsPolicy': [ioThreads],
  'what needs a feature gate': [featureGated],
  volumes: [volumes, containerDiskPaths],
  utilityVolumes: [utilityVolumes],
  accessCredentials: [accessCredentials],
  'networks, domain.devices.interfaces': [networks, interfaces],
  'resourceClaims, and the devices that use them': [resourceClaims],
  'affinity, topologySpreadConstraints, tolerations': [affinity, topologySpread, tolerations],
  'livenessProbe, readinessProbe': [probes],
  'startStrategy, evictionStrategy': [startStrategy, evictionStrategy],
};

/** Only where a VMI is about to run: a template may still be completed. */
export const instanceRules: Readonly<Record<string, readonly SpecRule[]>> = {
  'volumes have their disks': [volumesAttached],
  'domain.features.hyperv': [hyperv],
  architecture: [architecture],
  'domain.devices.interfaces': [discontinuedBindings],
};
