import type { Clock } from './clock.js';
import type { JsonObject } from './qmp/messages.js';

/** A guest that has not answered the power button by then does not hear it. */
const patienceMs = 5 * 60_000;

type State = 'idle' | 'asked' | 'resetting';

/**
 * Reboots a guest without an agent: it powers off on the ACPI button, QEMU holds still instead of ending, and the machine is
 * reset and runs again.
 */
export class SoftReboot {
  private state: State = 'idle';
  private cancel: () => void = () => {};

  constructor(
    private readonly qmp: (command: string, parameters?: JsonObject) => Promise<unknown>,
    private readonly clock: Clock,
  ) {}

  get underWay(): boolean {
    return this.state !== 'idle';
  }

  /** Whether the guest stands still only to run again at once. */
  get resetting(): boolean {
    return this.state === 'resetting';
  }

  async press(): Promise<void> {
    await this.qmp('set-action', { shutdown: 'pause' });
    this.state = 'asked';
    this.cancel();
    this.cancel = this.clock.after(patienceMs, () => void this.abandon().catch(() => {}));
    await this.qmp('system_powerdown');
  }

  /** From here on a power-off is one again. */
  async abandon(): Promise<void> {
    this.end();
    await this.qmp('set-action', { shutdown: 'poweroff' });
  }

  /** The guest has powered off. Whether that was its half of the reboot. */
  poweredOff(): boolean {
    if (this.state !== 'asked') return false;
    this.state = 'resetting';
    return true;
  }

  async reset(): Promise<void> {
    await this.qmp('system_reset');
  }

  /** The machine has been reset. */
  async run(): Promise<void> {
    if (this.state !== 'resetting') return;
    this.end();
    await this.qmp('set-action', { shutdown: 'poweroff' });
    await this.qmp('cont');
  }

  private end(): void {
    this.state = 'idle';
    this.cancel();
  }
}
