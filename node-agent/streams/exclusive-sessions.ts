/** Streams that one client at a time may have: a newcomer ends the one before, unless it asks not to. */
import { Refusal } from './refusal.js';

export interface Session {
  /** Aborts when a newcomer has taken over. */
  readonly takenOver: AbortSignal;
  readonly release: () => void;
}

export class ExclusiveSessions {
  private readonly holders = new Map<string, AbortController>();

  isFree(key: string): boolean {
    return !this.holders.has(key);
  }

  /** Throws a Conflict where `preserve` is set and somebody has it. */
  claim(key: string, preserve: boolean, busy: string): Session {
    const present = this.holders.get(key);
    if (present !== undefined && preserve) throw new Refusal('Conflict', busy);
    const holder = new AbortController();
    this.holders.set(key, holder);
    present?.abort();
    return {
      takenOver: holder.signal,
      release: () => {
        if (this.holders.get(key) === holder) this.holders.delete(key);
      },
    };
  }
}
