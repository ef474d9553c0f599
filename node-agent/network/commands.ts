/** Runs iproute2, nft and sysctl: on the node, or inside a network namespace. */
import { spawn } from 'node:child_process';
import { NetworkError } from './interface.js';

export interface Commands {
  /** @param input for standard input. Rejects with `NetworkError`, or with the signal's reason. */
  run(program: string, argv: readonly string[], input?: string): Promise<string>;
}

/** Distributions keep them where an ordinary user's PATH does not look. */
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const timeoutMilliseconds = 60_000;

/** Each takes an instant, and is never left half done. */
export const nodeCommands: Commands = {
  run: (program, argv, input) => execute([program, ...argv], input),
};

/** @param namespace a file that setns takes */
export function namespaceCommands(namespace: string, signal: AbortSignal): Commands {
  const prefix = enter(namespace);
  return { run: (program, argv, input) => execute([...prefix, program, ...argv], input, signal) };
}

/** What to put before a command so that it runs in a network namespace; its process id stays the same. */
export function enter(namespace: string): readonly string[] {
  return ['nsenter', `--net=${namespace}`, '--'];
}

function execute(command: readonly string[], input: string | undefined, stop?: AbortSignal): Promise<string> {
  const [program = '', ...argv] = command;
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, {
      env: { PATH: searchPath, LC_ALL: 'C' },
      signal: stop === undefined ? timeout : AbortSignal.any([stop, timeout]),
    });
    let output = '';
    let complaint = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.once('error', (error) => {
      if (stop?.aborted === true) reject(stop.reason as Error);
      else reject(new NetworkError(`${command.join(' ')}: ${error.message}`, { cause: error }));
    });
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new NetworkError(`${command.join(' ')}: ${complaint.trim() || `exit status ${code}`}`));
    });
    // One that ends before it has read everything says why on standard error.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
  });
}
