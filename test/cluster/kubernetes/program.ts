/** A program that runs until it is stopped, with what it said kept for the message of a failure. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Program {
  /** Resolves once `ready` does. Rejects with the program's last words if it ends before, or is not ready in time. */
  ready(what: string, ready: () => Promise<boolean>, seconds?: number): Promise<void>;
  /** The end of what it has written. */
  words(): string;
  stop(): Promise<void>;
}

const keptLength = 64 * 1024;
/** A program that ignores SIGTERM for so long is killed. Milliseconds. */
const stopTime = 10_000;

export function startProgram(file: string, flags: readonly string[]): Program {
  const child = spawn(file, [...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const keep = (chunk: Buffer): void => {
    text = (text + chunk.toString()).slice(-keptLength);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('error', (error) => {
    text += error.message;
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  const words = (): string => text.slice(-6000);
  return {
    words,
    async ready(what, ready, seconds = 120) {
      for (const end = Date.now() + seconds * 1000; !(await ready());) {
        if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
          throw new Error(`${file} ended before ${what}:\n${words()}`);
        if (Date.now() > end) throw new Error(`${file}: not within ${seconds} s: ${what}:\n${words()}`);
        await delay(200);
      }
    },
    async stop() {
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopTime);
      await ended;
      clearTimeout(late);
    },
  };
}

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has one of these.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
