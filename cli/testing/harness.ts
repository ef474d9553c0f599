/** Runs command lines against the fake API server, with a terminal that tests type at and read from. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { execute } from '../main.js';
import type { Terminal } from '../terminal.js';
import { startFakeApiServer, type FakeApiServer } from './api-server.js';

export class TestTerminal implements Terminal {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  readonly messages = new PassThrough();
  raw = false;
  printed = '';
  said = '';

  constructor(readonly interactive: boolean) {
    this.output.on('data', (chunk: Buffer) => {
      this.printed += chunk.toString();
    });
    this.messages.on('data', (chunk: Buffer) => {
      this.said += chunk.toString();
    });
  }

  setRaw(raw: boolean): void {
    this.raw = raw;
  }

  /** Resolves when what the commands have said matches. */
  async untilSaid(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.said)) await once(this.messages, 'data');
  }

  async untilPrinted(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.printed)) await once(this.output, 'data');
  }
}

export interface Harness {
  readonly server: FakeApiServer;
  readonly terminal: TestTerminal;
  readonly interruption: AbortController;
  /** Runs `kubectl virt ARGV` with the namespace `vms` in its kubeconfig; answers the exit code. */
  readonly run: (...argv: string[]) => Promise<number>;
}

export async function harness(t: TestContext, interactive = true): Promise<Harness> {
  const server = await startFakeApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-virt-'));
  t.after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });
  const kubeconfig = join(directory, 'config');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: '', namespace: 'vms' } }],
      clusters: [{ name: 'test', cluster: { server: server.url } }],
      users: [],
    }),
  );
  const terminal = new TestTerminal(interactive);
  const interruption = new AbortController();
  return {
    server,
    terminal,
    interruption,
    run: (...argv) =>
      execute(argv, { environment: { KUBECONFIG: kubeconfig }, terminal, signal: interruption.signal }),
  };
}

export function machine(printableStatus: string): unknown {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'demo', namespace: 'vms', uid: 'vm-1' },
    spec: {},
    status: { printableStatus },
  };
}

export function instance(phase: string, uid = 'vmi-1'): unknown {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'demo', namespace: 'vms', uid },
    spec: {},
    status: { phase },
  };
}
