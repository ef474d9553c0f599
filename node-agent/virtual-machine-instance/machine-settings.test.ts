import assert from 'node:assert/strict';
import test from 'node:test';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { machineSettings } from './machine-settings.js';

test('machines are set as configured, and else by default', () => {
  for (const configuration of [undefined, {}, { virtualMachineOptions: {} }])
    assert.deepEqual(machineSettings(configuration), defaultMachineSettings);
  assert.deepEqual(
    machineSettings({
      developerConfiguration: { minimumReservePVCBytes: 4096, pvcTolerateLessSpaceUpToPercent: 0 },
      memBalloonStatsPeriod: 0,
      virtualMachineOptions: { disableFreePageReporting: {}, disableSerialConsoleLog: {} },
    }),
    {
      balloonStatsPeriod: 0,
      freePageReporting: false,
      logSerialConsole: false,
      minimumReserve: 4096,
      toleratedLessSpace: 0,
    },
  );
});
