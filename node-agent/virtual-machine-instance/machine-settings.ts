/** What a launcher is told of the cluster's configuration. */
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings, type MachineSettings } from '../../openapi/launcher/settings.js';

export function machineSettings({
  developerConfiguration: { minimumReservePVCBytes, pvcTolerateLessSpaceUpToPercent } = {},
  memBalloonStatsPeriod,
  virtualMachineOptions: { disableFreePageReporting, disableSerialConsoleLog } = {},
}: KubeVirtConfiguration = {}): MachineSettings {
  return {
    balloonStatsPeriod: memBalloonStatsPeriod ?? defaultMachineSettings.balloonStatsPeriod,
    freePageReporting: disableFreePageReporting === undefined,
    logSerialConsole: disableSerialConsoleLog === undefined,
    minimumReserve: minimumReservePVCBytes ?? defaultMachineSettings.minimumReserve,
    toleratedLessSpace: pvcTolerateLessSpaceUpToPercent ?? defaultMachineSettings.toleratedLessSpace,
  };
}
