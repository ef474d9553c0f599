/** What the long-running commands share: logging, signals, and one clear line for an error at the start. */
import { pino, type Logger } from 'pino';

/** JSON lines on standard error; standard output is for what a command is asked to print. */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** Resolves with the name of the first SIGTERM or SIGINT. A second one ends the process at once. */
export function untilSignalled(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1);
        asked = true;
        resolve(signal);
      });
    }
  });
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The message of an error and of what caused it, in one line. */
export function explain(error: unknown): string {
  const messages: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    if (!messages.includes(each.message)) messages.push(each.message);
  }
  return (messages.length === 0 ? String(error) : messages.join(': ')).replace(/\s*\n\s*/g, ' ');
}

/** Milliseconds: the longest that a timer takes. */
const longestInterval = 2 ** 31 - 1;

/** Runs a command until it ends or is told to. Resolves with its exit status; an error becomes one line on standard error. */
export async function runUntilSignalled(
  command: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  void untilSignalled().then(() => stop.abort());
  // What waits for a clock or a signal alone, as a process that would like to lead does, keeps Node from nothing.
  const alive = setInterval(() => undefined, longestInterval);
  try {
    await work(stop.signal);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 0;
    process.stderr.write(`nativirt ${command}: ${explain(error)}\n`);
    return 1;
  } finally {
    clearInterval(alive);
  }
}
