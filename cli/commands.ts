/** The subcommands, in the order of the help. */
import type { Command } from './command.js';
import { completion } from './completion.js';
import { console } from './console.js';
import { createVm } from './create-vm.js';
import { evacuateCancel } from './evacuate-cancel.js';
import { fsList } from './fslist.js';
import { guestOsInfo } from './guestosinfo.js';
import { logs } from './logs.js';
import { pauseCommand } from './pause.js';
import { portForward } from './port-forward.js';
import { reset } from './reset.js';
import { restart } from './restart.js';
import { scp } from './scp.js';
import { screenshot, vncScreenshot } from './screenshot.js';
import { softReboot } from './soft-reboot.js';
import { ssh } from './ssh.js';
import { start } from './start.js';
import { stop } from './stop.js';
import { unpause } from './unpause.js';
import { userList } from './userlist.js';
import { vnc } from './vnc.js';

export const commands: readonly Command[] = [
  createVm,
  start,
  stop,
  restart,
  pauseCommand,
  unpause,
  softReboot,
  reset,
  evacuateCancel,
  console,
  logs,
  vnc,
  vncScreenshot,
  screenshot,
  ssh,
  scp,
  portForward,
  guestOsInfo,
  fsList,
  userList,
  completion,
];
