/** Runs the kubectl that `deploy/setup/kubectl.mjs` unpacked. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

export const kubectlPath = resolve(import.meta.dirname, '../../build/tools/kubectl');

export class KubectlError extends Error {
  override readonly name = 'KubectlError';
}

const run = promisify(execFile);

export class Kubectl {
  constructor(private readonly kubeconfig: string) {}

  /** What it printed on standard output. Rejects with what it printed on standard error. */
  async run(argv: readonly string[], signal: AbortSignal): Promise<string> {
    try {
      const { stdout } = await run(kubectlPath, [...argv], {
        env: { ...process.env, KUBECONFIG: this.kubeconfig },
        signal,
        maxBuffer: 16 * 1024 * 1024,
      });
      return stdout.trimEnd();
    } catch (error) {
      signal.throwIfAborted();
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      const text = said === '' && error instanceof Error ? error.message : said;
      throw new KubectlError(`kubectl ${argv.join(' ')}: ${text}`, { cause: error });
    }
  }
}
