import type { Clock } from './clock.js';

/** Guests that are still booting miss the power button, so it is pressed again. */
const pressIntervalMs = 5000;

export interface PowerSwitch {
  /** Press the ACPI power button. */
  press(): void;
  kill(): void;
}

/** Ends a guest: the power button, pressed again now and then, and a kill when its time is up. */
export class Shutdown {
  private deadline = Number.POSITIVE_INFINITY;
  private cancelKill: () => void = () => {};
  private cancelPress: () => void = () => {};
  private done = false;

  constructor(
    private readonly power: PowerSwitch,
    private readonly clock: Clock,
  ) {}

  /** Starts, or when it runs already can only shorten the time that is left. */
  within(graceMs: number): void {
    if (this.done) return;
    const first = this.deadline === Number.POSITIVE_INFINITY;
    const deadline = this.clock.now() + graceMs;
    if (deadline >= this.deadline) return;
    this.deadline = deadline;
    this.cancelKill();
    if (graceMs <= 0) {
      this.kill();
      return;
    }
    this.cancelKill = this.clock.after(graceMs, () => this.kill());
    if (first) this.press();
  }

  /** The guest is off. */
  cancel(): void {
    this.done = true;
    this.cancelKill();
    this.cancelPress();
  }

  private press(): void {
    this.power.press();
    this.cancelPress = this.clock.after(pressIntervalMs, () => this.press());
  }

  private kill(): void {
    this.cancel();
    this.power.kill();
  }
}
