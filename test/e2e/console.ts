/** A user at the serial console, through kubectl-virt. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { withTimeout, type Cluster } from './harness.js';

const kubectlVirt = path.resolve(import.meta.dirname, '../../bin/kubectl-virt');

/** Types what it is told once it has read what it waits for, step by step. Resolves with all that was printed. */
export async function converse(
  cluster: Cluster,
  name: string,
  script: readonly (readonly [string, string])[],
): Promise<string> {
  const child = spawn(process.execPath, [kubectlVirt, 'console', name], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let from = 0;
  // That it has ended is told by its exit.
  child.stdin.on('error', () => undefined);
  const remaining = [...script];
  const done = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => {
      reject(
        new Error(
          `the console ended with ${String(code)} before ${JSON.stringify(remaining[0]?.[0])}:\n${output}`,
        ),
      );
    });
    const advance = (): void => {
      for (let next = remaining[0]; next !== undefined; next = remaining[0]) {
        const found = output.indexOf(next[0], from);
        if (found < 0) return;
        from = found + next[0].length;
        remaining.shift();
        child.stdin.write(next[1]);
      }
      resolve();
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        advance();
      });
    }
  });
  try {
    await withTimeout(
      done,
      180_000,
      () => `the console never said ${JSON.stringify(remaining[0]?.[0])}:\n${output}`,
    );
    return output;
  } finally {
    child.removeAllListeners('exit');
    child.kill();
  }
}
