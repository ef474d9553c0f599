/** A node agent as a process of its own beside an API server, to be killed and measured. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { nodeAgentServerName } from '../../openapi/node-agent.js';

const root = path.resolve(import.meta.dirname, '../..');

export interface AgentOptions {
  readonly kubeconfig: string;
  readonly nodeName: string;
  /** For its certificates. */
  readonly directory: string;
  readonly flags: readonly string[];
}

export class AgentProcess {
  private child: ChildProcess | undefined;
  /** Of all its lives: what it logged. */
  log = '';

  private constructor(
    private readonly options: AgentOptions,
    private readonly tls: readonly string[],
  ) {}

  static async create(options: AgentOptions): Promise<AgentProcess> {
    const { directory, nodeName } = options;
    mkdirSync(directory, { recursive: true });
    const authority = await ensureCa(path.join(directory, 'pki'));
    const dnsNames = [nodeAgentServerName(nodeName)];
    const pair = authority.issue({ commonName: nodeName, dnsNames, usages: ['server'], days: 1 });
    const files = { 'tls.crt': pair.cert, 'tls.key': pair.key, 'ca.crt': authority.cert };
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(directory, name), text);
    const file = (name: string): string => path.join(directory, name);
    return new AgentProcess(options, [
      ...['--tls-cert-file', file('tls.crt')],
      ...['--tls-private-key-file', file('tls.key')],
      ...['--client-ca-file', file('ca.crt')],
    ]);
  }

  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('the agent is not running');
    return pid;
  }

  /** Does not wait until it is ready. */
  start(): void {
    const { kubeconfig, nodeName, flags } = this.options;
    const child = spawn(
      path.join(root, 'bin/nativirt'),
      ['node-agent', '--kubeconfig', kubeconfig, '--node-name', nodeName, ...this.tls, ...flags],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.child = child;
    createInterface({ input: child.stderr }).on('line', (line) => (this.log += `${line}\n`));
  }

  /** Ends it without warning. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    this.child = undefined;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the agent has ended by itself:\n${this.log.slice(-4000)}`);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
