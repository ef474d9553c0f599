import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { LauncherNetwork } from '../openapi/launcher/network.js';
import type { MachineSettings } from '../openapi/launcher/settings.js';
import type { Clock } from './clock.js';
import { prepareDisks } from './disks/prepare.js';
import { qemuImg } from './disks/qemu-img.js';
import { DownwardMetrics } from './downward-metrics/service.js';
import { failure } from './errors.js';
import type { Logger } from './log.js';
import { attachments } from './network/attachments.js';
import { GuestNetwork } from './network/guest-network.js';
import { commandLine } from './qemu/command-line.js';
import { chooseAccelerator, findExecutable } from './qemu/executable.js';
import type { CommandLine } from './qemu/assemble.js';
import { prepareSecurity } from './qemu/launch-security.js';
import { prepareKernel } from './qemu/kernel-boot.js';
import { machineType } from './qemu/machine.js';
import type { Accelerator } from './qemu/model.js';
import { readHost } from './qemu/host.js';
import type { Helper } from './qemu/helper.js';
import { startHelpers } from './qemu/helpers.js';
import { prepareEfi } from './qemu/ovmf.js';
import { pinThreads, utilLinux } from './qemu/pin.js';
import { cpuPlacement, type CpuPlacement } from './qemu/placement.js';
import { startQemu, type Qemu } from './qemu/process.js';
import { hasSerialConsole } from './qemu/serial.js';
import { refuseUnsupported } from './qemu/supported-fields.js';
import type { QmpEvent } from './qmp/messages.js';

export interface LaunchOptions {
  readonly qemu: string;
  readonly qemuImg: string;
  readonly allowKvm: boolean;
  readonly requireKvm: boolean;
  readonly searchPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Machine {
  readonly qemu: Qemu;
  readonly accelerator: Accelerator;
  readonly machineType: string;
}

export interface LaunchRequest {
  readonly vmi: VirtualMachineInstance;
  /** Undefined: the guest gets QEMU's user-mode network. */
  readonly network?: LauncherNetwork | undefined;
  readonly settings: MachineSettings;
  readonly onEvent: (event: QmpEvent) => void;
  readonly signal: AbortSignal;
}

/** Makes the disks of a VMI and starts its QEMU; the guest does not run yet. */
export type Launch = (request: LaunchRequest) => Promise<Machine>;

export function launcherOf(options: LaunchOptions): Launch {
  return async ({ vmi, network, settings, onEvent, signal }) => {
    const { clock, logger, searchPath } = options;
    refuseUnsupported(vmi);
    const { accelerator, why } = chooseAccelerator(options.allowKvm);
    const level = accelerator === 'kvm' ? 'info' : 'warn';
    if (accelerator === 'tcg' && options.requireKvm) throw failure('KVMMissing', why);
    logger[level](`The accelerator is ${accelerator}: ${why}`, { accelerator });
    // Said before minutes go into disks. qemu-img is missed when it is needed.
    if (findExecutable(options.qemu, searchPath) === undefined) throw failure('QEMUMissing', options.qemu);
    const images = await prepareDisks({
      vmi,
      settings,
      imageTool: qemuImg(options.qemuImg, signal),
      logger,
    });
    const efi = await prepareEfi(vmi);
    const kernel = await prepareKernel(vmi);
    await prepareSecurity(vmi);
    signal.throwIfAborted();
    const host = readHost(process.env);
    const attached = attachments(network);
    const context = { vmi, settings, accelerator, images, efi, kernel, host, ...attached, now: clock.now() };
    const line = commandLine(context);
    const metrics = new DownwardMetrics({ vmi, clock, logger });
    const guestNetwork = network && new GuestNetwork({ vmi, network, clock, logger });
    const helpers: Helper[] = [];
    const stopServing = () => {
      metrics.stop();
      guestNetwork?.stop();
      // Those that QEMU has connected to end by themselves; the others would wait for ever.
      for (const helper of helpers) helper.kill();
    };
    const serveAndStart = async () => {
      const isRoot = process.getuid?.() === 0;
      helpers.push(...(await startHelpers({ vmi, network, searchPath, signal, isRoot })));
      await guestNetwork?.listen();
      await metrics.listen();
      logger.info('QEMU starts', { binary: options.qemu, argv: line.argv });
      const hasSerial = hasSerialConsole({ vmi });
      return startQemu({ binary: options.qemu, commandLine: line, searchPath, hasSerial, onEvent, signal });
    };
    const qemu = await serveAndStart().catch((error: unknown) => {
      const cause = helpers.map((helper) => helper.failure).find((each) => each !== undefined);
      stopServing();
      throw cause ?? error;
    });
    void qemu.exited.then(stopServing);
    await metrics.follow(qemu.pid);
    await finish(qemu, line, cpuPlacement(context), signal);
    return { qemu, accelerator, machineType: machineType({ vmi }) };
  };
}

/** What only a QEMU that is there can be told. One that refuses is ended. */
async function finish(
  qemu: Qemu,
  { commands }: CommandLine,
  placement: CpuPlacement | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const { execute, arguments: parameters } of commands) await qemu.qmp.execute(execute, parameters);
    if (placement) await pinThreads(qemu.pid, qemu.qmp, placement, utilLinux(signal));
  } catch (error) {
    qemu.kill();
    await qemu.exited;
    throw error;
  }
}
