/** A flag that one loop waits for: a notice that comes while it works is not lost. */
export class Wakeup {
  private noticed = false;
  private resolve: (() => void) | undefined;

  notice(): void {
    this.noticed = true;
    this.resolve?.();
  }

  /** Resolves after a notice since the last `wait`. */
  async wait(): Promise<void> {
    if (!this.noticed) await new Promise<void>((resolve) => (this.resolve = resolve));
    this.noticed = false;
    this.resolve = undefined;
  }
}
