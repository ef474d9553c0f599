/** What the demo shows, on a control plane that runs: create, boot, log in. */
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStream } from '../../cli/websocket.js';
import type { Event } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ControlPlane } from './control-plane.js';
import { Kubectl } from './kubectl.js';
import { watchMachine } from './machine-watch.js';
import type { Progress } from './progress.js';
import { SerialSession, webSocketPort } from './serial-session.js';

export class DemoError extends Error {
  override readonly name = 'DemoError';
}

export const namespace = 'demo';
export const machine = 'demo';
/** As the manifest's cloud-init has it. */
const login = { user: 'demo', password: 'demo' };
const examples = resolve(import.meta.dirname, '../examples');
/** Milliseconds that the guest has to shut down and the control plane to forget it. */
const deletionTimeout = 90_000;

/** The node's agent says in the event what the guest runs with. */
function tellAccelerator(progress: Progress, message: string): void {
  const how = message.endsWith('KVM')
    ? 'the hardware virtualization of this machine'
    : 'in software and slowly, because this machine has no usable /dev/kvm';
  progress.step(`${message}: ${how}`);
}

export class Demo {
  private readonly kubectl: Kubectl;

  constructor(
    private readonly controlPlane: ControlPlane,
    private readonly progress: Progress,
  ) {
    this.kubectl = new Kubectl(controlPlane.kubeconfig);
  }

  /** All of it. Rejects unless everything really happened. */
  async run(signal: AbortSignal): Promise<void> {
    await this.create(signal);
    const instance = await this.follow(signal);
    const session = await this.connect(instance, signal);
    try {
      await this.logIn(session, signal);
    } finally {
      session.close();
    }
    this.progress.step('kubectl get vms,vmis');
    this.progress.quote(await this.kubectl.run(['get', '-n', namespace, 'vms,vmis'], signal));
  }

  private async create(signal: AbortSignal): Promise<void> {
    const namespaces = await this.kubectl.run(['get', 'namespaces', '-o', 'name'], signal);
    if (!namespaces.split('\n').includes(`namespace/${namespace}`)) {
      this.progress.step(await this.kubectl.run(['create', '-f', `${examples}/namespace.yaml`], signal));
    }
    // A data directory that was kept may still have the last demo's machine.
    await this.kubectl.run(['delete', '-n', namespace, '--ignore-not-found', 'vm', machine], signal);
    this.progress.step(
      await this.kubectl.run(['create', '-n', namespace, '-f', `${examples}/vm-demo.yaml`], signal),
    );
  }

  /** Tells what happens until the guest runs. */
  private async follow(signal: AbortSignal): Promise<VirtualMachineInstance> {
    const { progress, controlPlane } = this;
    const done = new AbortController();
    const watching = AbortSignal.any([signal, done.signal]);
    const running = new Promise<VirtualMachineInstance>((resolveInstance, reject) => {
      let reached: VirtualMachineInstance | undefined;
      let warning = '';
      const listener = {
        onStatus: (status: string) => {
          progress.step(`VirtualMachine ${machine}: ${status}`);
        },
        onPhase: (phase: string, vmi: VirtualMachineInstance) => {
          progress.step(`VirtualMachineInstance ${machine}: ${phase}`);
          if (phase === 'Failed') reject(new DemoError(`the virtual machine failed: ${warning}`));
          if (phase === 'Running') reached = vmi;
          settle();
        },
        onEvent: (event: Event) => {
          if (event.reason === 'Started') {
            tellAccelerator(progress, event.message ?? '');
            started = true;
          }
          if (event.type === 'Warning' && event.reason !== 'SoftwareEmulation') {
            warning = event.message ?? '';
            progress.step(`warning: ${event.reason ?? ''}: ${warning}`);
          }
          settle();
        },
      };
      let started = false;
      // The event says what it runs with; it may come a little after the phase.
      const settle = (): void => {
        if (reached !== undefined && started) resolveInstance(reached);
      };
      watchMachine(controlPlane.client, namespace, machine, listener, watching).catch((error: unknown) => {
        if (!done.signal.aborted) reject(error instanceof Error ? error : new DemoError(String(error)));
      });
    });
    try {
      return await running;
    } finally {
      done.abort();
    }
  }

  private async connect(instance: VirtualMachineInstance, signal: AbortSignal): Promise<SerialSession> {
    const name = instance.metadata.name;
    const socket = await openStream(
      this.controlPlane.connection,
      { namespace, resource: 'virtualmachineinstances', name, stream: 'console' },
      signal,
    );
    this.progress.step('connected to the serial console');
    return new SerialSession(webSocketPort(socket), (line) => {
      if (line !== '') this.progress.quote(line);
    });
  }

  private async logIn(session: SerialSession, signal: AbortSignal): Promise<void> {
    await session.untilLogin(signal);
    this.progress.step('the guest asks for a login');
    await session.enter(login, signal);
    this.progress.step(`logged in as ${login.user}`);
    const kernel = await session.run('uname -a', signal);
    if (!kernel.startsWith(`Linux ${machine} `))
      throw new DemoError(`uname -a printed ${JSON.stringify(kernel)}`);
    await this.untilAddress(session, signal);
    session.send('exit\n');
    await session.untilLogin(signal);
    this.progress.step(`the guest booted, has an address, and let ${login.user} log in`);
  }

  /** DHCP goes on beside the login. */
  private async untilAddress(session: SerialSession, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; attempt < 20; attempt++) {
      const addresses = await session.run('ip addr', signal);
      if (/inet (?!127\.)[\d.]+\//.test(addresses)) return;
      await sleep(1000, undefined, { signal });
    }
    throw new DemoError('the guest got no address by DHCP');
  }

  /** Deletes the machine and its namespace and waits until they are gone. */
  async cleanUp(): Promise<void> {
    const signal = AbortSignal.timeout(deletionTimeout);
    this.progress.step('shutting the guest down and deleting it');
    await this.kubectl.run(['delete', '-n', namespace, '--ignore-not-found', 'vm', machine], signal);
    await this.kubectl.run(['delete', '--ignore-not-found', 'namespace', namespace], signal);
  }
}
