import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { LauncherNetwork } from '../openapi/launcher/network.js';
import type { DomainStatus } from '../openapi/launcher/protocol.js';
import { defaultMachineSettings, type MachineSettings } from '../openapi/launcher/settings.js';
import { asError, type Clock } from './clock.js';
import { explainEnd, failed, type Change } from './domain-end.js';
import { ioError, pausedByUser, stoppedByQemu, type StopCause } from './domain-pause.js';
import { isFinal, next } from './domain-states.js';
import { toLauncherError, type LauncherError } from './errors.js';
import type { GuestAgent } from './guest-agent.js';
import type { Launch, LaunchRequest, Machine } from './launch.js';
import type { Logger } from './log.js';
import { logTail, type QemuExit } from './qemu/process.js';
import { agentPort } from './qemu/serial.js';
import { text, type JsonObject, type QmpEvent } from './qmp/messages.js';
import { Shutdown } from './shutdown.js';
import { SoftReboot } from './soft-reboot.js';
import type { StatusStore } from './status.js';

/** What of the machine the rest of the launcher uses. */
export interface DomainObserver {
  /** QEMU is there, its guest does not run yet. */
  machineStarted(machine: Machine): void;
  /** The guest's agent has opened or closed its port. */
  agentChanged(open: boolean): void;
  machineEnded(): void;
}

export interface DomainOptions {
  readonly launch: Launch;
  readonly status: StatusStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: DomainObserver;
}

/** The state does not allow what was asked. */
export class InvalidStateError extends Error {
  override readonly name = 'InvalidStateError';
}

const stopRequested = new Error('the virtual machine was asked to end while it was being started');

/** Events that the log of a guest's life needs; the others can come every second. */
const loggedEvents: ReadonlySet<string> = new Set([
  'GUEST_PANICKED',
  'POWERDOWN',
  'RESET',
  'RESUME',
  'SHUTDOWN',
  'STOP',
  'VSERPORT_CHANGE',
  'WATCHDOG',
]);

/** One virtual machine, from its VMI to its end. */
export class Domain {
  private machine: Machine | undefined;
  private readonly shutdownSequence: Shutdown;
  private readonly reboot: SoftReboot;
  private readonly starting = new AbortController();
  private graceSeconds = 0;
  private killed = false;
  private requested = false;
  private panicked = false;
  private watchdogExpired = false;
  private hasRun = false;
  private stopped = true;
  private startFailure: LauncherError | undefined;
  private shutdownReason: string | undefined;
  /** Why QEMU is about to stop the guest, when an event has told it before the STOP. */
  private stopCause: StopCause | undefined;

  constructor(private readonly options: DomainOptions) {
    const power = { press: () => this.pressPowerButton(), kill: () => this.kill() };
    this.shutdownSequence = new Shutdown(power, options.clock);
    this.reboot = new SoftReboot((command, parameters) => this.qmp(command, parameters), options.clock);
  }

  get status(): DomainStatus {
    return this.options.status.current;
  }

  /** Answers at once; the status tells how it goes. Does nothing when it is under way already. */
  start(
    vmi: VirtualMachineInstance,
    network?: LauncherNetwork,
    settings: MachineSettings = defaultMachineSettings,
  ): void {
    const prepared = this.apply({
      trigger: 'prepare',
      reason: 'Preparing',
      message: 'The disks are being prepared.',
    });
    if (prepared) void this.run({ vmi, network, settings });
  }

  shutdown(gracePeriodSeconds: number): void {
    if (isFinal(this.status.state)) return;
    this.requested = true;
    this.graceSeconds = gracePeriodSeconds;
    if (this.status.state === 'Waiting') return void this.apply(endedBeforeStart);
    this.apply({
      trigger: 'shutdown',
      reason: 'ShutdownRequested',
      message: `The guest was asked to power off and has ${gracePeriodSeconds} s to do so.`,
    });
    if (this.machine) this.shutdownSequence.within(gracePeriodSeconds * 1000);
    else this.starting.abort(stopRequested);
  }

  /** @throws InvalidStateError, QmpError. */
  async pause(): Promise<void> {
    if (this.status.state === 'Paused') return;
    if (this.status.state !== 'Running') throw this.invalidState('paused');
    this.stopCause = pausedByUser;
    await this.qmp('stop');
  }

  async unpause(): Promise<void> {
    if (this.status.state === 'Running') return;
    if (this.status.state !== 'Paused') throw this.invalidState('unpaused');
    await this.qmp('cont');
  }

  async reset(): Promise<void> {
    if (this.status.state !== 'Running' && this.status.state !== 'Paused') throw this.invalidState('reset');
    await this.qmp('system_reset');
  }

  /**
   * @param agent that the guest is asked by; without, by the power button
   * @throws InvalidStateError, QmpError, GuestAgentError
   */
  async softReboot(agent: GuestAgent | undefined): Promise<void> {
    if (this.status.state !== 'Running') throw this.invalidState('rebooted');
    if (agent) await agent.tell('guest-shutdown', { mode: 'reboot' });
    else await this.reboot.press();
  }

  private async run(request: Pick<LaunchRequest, 'vmi' | 'network' | 'settings'>): Promise<void> {
    const { launch, observer, status } = this.options;
    try {
      const onEvent = (event: QmpEvent) => this.onEvent(event);
      const machine = await launch({ ...request, onEvent, signal: this.starting.signal });
      const { qemu, accelerator, machineType } = machine;
      if (this.starting.signal.aborted) {
        qemu.kill();
        await qemu.exited;
        this.onStartFailed(stopRequested);
        return;
      }
      this.machine = machine;
      void qemu.exited.then((exit) => this.onExit(exit));
      status.update({ qemuPid: qemu.pid, qemuVersion: qemu.version, accelerator, machineType });
      observer.machineStarted(machine);
      if (request.vmi.spec.startStrategy === 'Paused') return void this.apply(startedPaused);
      await this.qmp('cont');
    } catch (error) {
      this.onStartFailed(error);
    }
  }

  private onStartFailed(error: unknown): void {
    if (this.starting.signal.aborted && !this.machine) return void this.apply(endedBeforeStart);
    const cause = toLauncherError(error);
    this.options.logger.error('the virtual machine did not start', {
      reason: cause.reason,
      error: cause.message,
    });
    if (!this.machine) return void this.apply(failed(cause));
    this.startFailure = cause;
    this.machine.qemu.kill();
  }

  private onEvent({ event, data }: QmpEvent): void {
    if (loggedEvents.has(event)) this.options.logger.info('QEMU event', { event, data });
    switch (event) {
      case 'RESUME':
        this.hasRun = true;
        this.stopped = false;
        return void this.apply({ trigger: 'run', reason: 'Running', message: 'The guest runs.' });
      case 'STOP':
        if (this.reboot.resetting) return;
        this.stopped = true;
        this.apply({ trigger: 'pause', ...(this.stopCause ?? stoppedByQemu) });
        this.stopCause = undefined;
        return;
      case 'BLOCK_IO_ERROR':
        if (data['action'] === 'stop') this.stopCause = ioError(data);
        return;
      case 'GUEST_PANICKED':
        this.panicked = true;
        return;
      case 'WATCHDOG':
        if (data['action'] === 'poweroff') this.watchdogExpired = true;
        return;
      case 'RESET': {
        this.continueReboot(this.reboot.run());
        return;
      }
      case 'SHUTDOWN':
        if (this.reboot.poweredOff()) {
          this.continueReboot(this.reboot.reset());
          return;
        }
        this.shutdownReason = text(data['reason']);
        return;
      case 'VSERPORT_CHANGE':
        if (data['id'] === agentPort) this.options.observer.agentChanged(data['open'] === true);
        return;
      default:
        return;
    }
  }

  /** A machine that stands still between power-off and reset would do so for ever. */
  private continueReboot(step: Promise<void>): void {
    step.catch((error: unknown) => {
      if (isFinal(this.status.state)) return;
      this.options.logger.error('the reboot failed', { error: asError(error).message });
      this.machine?.qemu.kill();
    });
  }

  private onExit({ code, signal }: QemuExit): void {
    this.shutdownSequence.cancel();
    this.options.observer.machineEnded();
    const { killed, graceSeconds, requested, panicked, watchdogExpired, shutdownReason } = this;
    const seen = { killed, graceSeconds, requested, panicked, watchdogExpired, shutdownReason };
    // A QEMU that ended by itself tells more than the command that failed because of it.
    const change =
      this.startFailure && signal === 'SIGKILL'
        ? failed(this.startFailure)
        : explainEnd({ code, signal, ...seen, logTail: logTail() });
    this.apply(change, { qemuPid: undefined, guestAgentConnected: false });
  }

  private pressPowerButton(): void {
    const press = async () => {
      if (this.reboot.underWay) await this.reboot.abandon();
      // A guest that never ran has nothing to save, and one that is stopped does not see the button.
      if (!this.hasRun) return await this.qmp('quit');
      if (this.stopped) await this.qmp('cont');
      return await this.qmp('system_powerdown');
    };
    press().catch((error: unknown) => {
      this.options.logger.warn('the power button could not be pressed', { error: asError(error).message });
    });
  }

  private kill(): void {
    this.killed = true;
    this.options.logger.warn('QEMU is killed', { graceSeconds: this.graceSeconds });
    this.machine?.qemu.kill();
  }

  private async qmp(command: string, parameters?: JsonObject): Promise<unknown> {
    if (!this.machine) throw this.invalidState('used');
    return await this.machine.qemu.qmp.execute(command, parameters);
  }

  private invalidState(what: string): InvalidStateError {
    return new InvalidStateError(`a virtual machine that is ${this.status.state} cannot be ${what}`);
  }

  /** Makes a transition; false, and nothing changed, where the state has none for it. */
  private apply({ trigger, reason, message }: Change, more: Partial<DomainStatus> = {}): boolean {
    const { status, logger } = this.options;
    const state = next(status.current.state, trigger);
    if (state === undefined) return false;
    logger.info('the domain changes', { from: status.current.state, to: state, reason, detail: message });
    status.update({ ...more, state, reason, message });
    return true;
  }
}

const endedBeforeStart: Change = {
  trigger: 'powerOff',
  reason: 'ShutdownRequested',
  message: 'The virtual machine was ended before it had started.',
};

const startedPaused: Change = {
  trigger: 'pause',
  reason: 'StartStrategy',
  message: 'The guest starts paused, as spec.startStrategy says. Unpause it to let it run.',
};
