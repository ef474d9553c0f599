/** What the demo tells a person: one line a step, with the time since the start. */

export class Progress {
  private readonly started = performance.now();

  constructor(private readonly write: (text: string) => void) {}

  /** Seconds since the start. */
  get elapsed(): number {
    return (performance.now() - this.started) / 1000;
  }

  step(text: string): void {
    this.write(`${this.elapsed.toFixed(1).padStart(6)} s  ${text}\n`);
  }

  /** Output of something else, set off from ours. */
  quote(text: string): void {
    for (const line of text.split('\n')) this.write(`          │ ${line}\n`);
  }

  plain(text: string): void {
    this.write(`${text}\n`);
  }
}
