/** What becomes of the guests when standalone is told to stop. */
import { execFile } from 'node:child_process';
import { durationFlag, FlagError } from '../commands/flags.js';

export interface GuestsAtStop {
  /** `host-shutdown`: only when the whole machine goes down. Guests that are left run on, and are adopted at the next start. */
  readonly end: 'never' | 'host-shutdown' | 'always';
  /** Milliseconds that they get to shut down. */
  readonly gracePeriod: number;
}

export const guestsAtStopFlags = {
  'end-guests': { type: 'string' },
  'shutdown-grace-period': { type: 'string' },
} as const;

export const guestsAtStopUsage = `  --end-guests WHEN         whether guests are shut down when this command is told to stop: never; host-shutdown, when
                            systemd says that the machine goes down; always (default: host-shutdown)
  --shutdown-grace-period TIME
                            how long they get for that, the least important first (default: 60s)
`;

type Values = { readonly [Flag in keyof typeof guestsAtStopFlags]?: string | undefined };

/** Throws `FlagError`. */
export function parseGuestsAtStop(values: Values): GuestsAtStop {
  const end = values['end-guests'] ?? 'host-shutdown';
  if (end !== 'never' && end !== 'host-shutdown' && end !== 'always')
    throw new FlagError(`--end-guests ${end}: must be never, host-shutdown or always`);
  const gracePeriod = durationFlag('--shutdown-grace-period', values['shutdown-grace-period'] ?? '60s');
  return { end, gracePeriod };
}

/** Whether they are to end now. `systemState`: systemd's word for the machine's state; undefined where there is no systemd. */
export async function guestsEndNow(
  { end }: GuestsAtStop,
  systemState: () => Promise<string | undefined> = readSystemState,
): Promise<boolean> {
  return end === 'always' || (end === 'host-shutdown' && (await systemState()) === 'stopping');
}

const answerTimeout = 2000;

/** It ends with an error in every state but one: only what it prints counts. */
function readSystemState(): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('systemctl', ['is-system-running'], { timeout: answerTimeout }, (_error, output) => {
      const state = output.trim();
      resolve(state === '' ? undefined : state);
    });
  });
}
