/** A control plane in memory for the tests of controllers: objects, clock, informers, and a node that runs its pods. */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { unpausedGate } from '../../openapi/launcher/pod.js';
import type { ControllerDependencies } from '../dependencies.js';
import type { Client, Kind } from '../runtime/client.js';
import { timestamp } from '../runtime/clock.js';
import type { Runnable } from '../runtime/controller.js';
import type { EventType } from '../runtime/event-recorder.js';
import { Informers } from '../runtime/informers.js';
import { nodes, pods, virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { sharedSignal } from '../runtime/signals.js';
import { FakeClient, type RecordedWrite } from '../runtime/testing/fake-client.js';
import { FakeClock, settle } from '../runtime/testing/fake-clock.js';
import { SilentLogger } from '../runtime/testing/silent-logger.js';

export interface RecordedEvent {
  readonly object: string;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

export class Harness {
  readonly clock = new FakeClock();
  readonly client = new FakeClient(this.clock);
  readonly logger = new SilentLogger();
  readonly events: RecordedEvent[] = [];
  /** What stands between the controllers and the server. */
  through: (client: Client) => Client = (client) => client;
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #process = { writesLeft: 0 };

  /** Starts controllers over fresh informers, as a process that has just been started does. */
  async start(...create: ((deps: ControllerDependencies) => Runnable)[]): Promise<void> {
    this.#stop = new AbortController();
    const signal = sharedSignal(this.#stop.signal);
    const { clock, logger } = this;
    const process = { writesLeft: Number.POSITIVE_INFINITY };
    this.#process = process;
    const client = mortal(this.through(this.client), process);
    const informers = new Informers({ client, logger, clock, random: () => 0 });
    const deps: ControllerDependencies = {
      client,
      informers,
      logger,
      clock,
      random: () => 0,
      recorder: () => ({
        event: ({ metadata }, type, reason, message) => {
          this.events.push({ object: metadata.name, type, reason, message });
        },
      }),
    };
    const controllers = create.map((make) => make(deps));
    this.#running = Promise.all([informers, ...controllers].map((each) => each.run(signal)));
    await settle();
  }

  /** The process that was started last is killed when it has written so often. */
  killAfter(writes: number): void {
    this.#process.writesLeft = writes;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  get reasons(): string[] {
    return this.events.map(({ reason }) => reason);
  }

  /** Writes of a kind, `create`, `patch/status` and so on. */
  writesOf<T extends KubernetesObject>(kind: Kind<T>): string[] {
    return this.client.writes.filter(({ resource }) => resource === kind.resource).map(describe);
  }

  vm(name = 'vm'): VirtualMachine | undefined {
    return this.client.find(virtualMachines, { namespace: 'default', name });
  }

  vmi(name = 'vm'): VirtualMachineInstance | undefined {
    return this.client.find(virtualMachineInstances, { namespace: 'default', name });
  }

  launcher(): Pod | undefined {
    return this.client.all(pods)[0];
  }

  async createVm(spec: Partial<VirtualMachine['spec']> = {}): Promise<VirtualMachine> {
    const vm = await this.client.create(virtualMachines, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: {
        namespace: 'default',
        name: 'vm',
        finalizers: ['kubevirt.io/virtualMachineControllerFinalize'],
      },
      spec: { runStrategy: 'Always', template: { spec: guest() }, ...spec },
    });
    await settle();
    return vm;
  }

  async createNode(name = 'node1', change: Partial<Node> = {}): Promise<Node> {
    const node = await this.client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, 'kubevirt.io/schedulable': 'true' },
      },
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
      ...change,
    });
    await settle();
    return node;
  }

  /** Somebody changes the status, past the controllers. */
  async setStatus<T extends KubernetesObject & { status?: object }>(
    kind: Kind<T>,
    name: string,
    status: T['status'],
  ): Promise<void> {
    this.client.put(kind, keyIn(kind, name), (object) => ({
      ...object,
      status: { ...object.status, ...status },
    }));
    await settle();
  }

  async change<T extends KubernetesObject>(
    kind: Kind<T>,
    name: string,
    change: (object: T) => T,
  ): Promise<void> {
    this.client.put(kind, keyIn(kind, name), change);
    await settle();
  }

  /** The node agent of standalone: runs launchers, and takes VMIs over when they are Scheduled. */
  async bindAndRun(node = 'node1'): Promise<void> {
    await this.bind(node);
    await this.startPod();
  }

  async bind(node = 'node1'): Promise<void> {
    const pod = this.launcher();
    if (pod === undefined) throw new Error('there is no pod to bind');
    await this.change(pods, pod.metadata.name, (each) => ({
      ...each,
      spec: { ...each.spec, containers: each.spec?.containers ?? [], nodeName: node },
    }));
  }

  async startPod(): Promise<void> {
    const name = this.launcher()?.metadata.name ?? '';
    const state = { running: { startedAt: timestamp(this.clock.now()) } };
    const container = { name: 'compute', image: '', imageID: '', ready: true, restartCount: 0, state };
    await this.setStatus(pods, name, {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: unpausedGate, status: 'True' },
      ],
      containerStatuses: [container],
    });
  }

  /** The node agent reports the guest as running: one write. */
  async startGuest(name = 'vm'): Promise<void> {
    await this.#setPhase(name, 'Running', { type: 'Ready', status: 'True' });
  }

  async endGuest(phase: 'Succeeded' | 'Failed', name = 'vm'): Promise<void> {
    await this.#setPhase(name, phase, { type: 'Ready', status: 'False', reason: 'GuestNotRunning' });
  }

  async #setPhase(
    name: string,
    phase: string,
    ready: { type: string; status: string; reason?: string },
  ): Promise<void> {
    const status = this.vmi(name)?.status ?? {};
    const others = (status.conditions ?? []).filter(({ type }) => type !== 'Ready');
    await this.setStatus(virtualMachineInstances, name, {
      ...status,
      phase,
      conditions: [...others, ready],
      phaseTransitionTimestamps: [
        ...(status.phaseTransitionTimestamps ?? []),
        { phase, phaseTransitionTimestamp: timestamp(this.clock.now()) },
      ],
    });
  }

  /** The runtime of the node has stopped a pod and lets it go. */
  async removePod(): Promise<void> {
    const pod = this.launcher();
    if (pod !== undefined) this.client.remove(pods, pod.metadata);
    await settle();
  }
}

export function guest(): NonNullable<VirtualMachine['spec']['template']['spec']> {
  return {
    domain: {
      devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
      memory: { guest: '128Mi' },
    },
    volumes: [{ name: 'root', containerDisk: { image: 'example.org/guest:1' } }],
  };
}

/** A client whose process dies: from then on no call of it ever returns, and none reaches the server. */
function mortal(client: Client, process: { writesLeft: number }): Client {
  const dead = new Promise<never>(() => undefined);
  const write = (): boolean => {
    process.writesLeft -= 1;
    return process.writesLeft >= 0;
  };
  return {
    get: (...call) => (process.writesLeft > 0 ? client.get(...call) : dead),
    list: (...call) => (process.writesLeft > 0 ? client.list(...call) : dead),
    async *watch(kind, params, signal) {
      for await (const event of client.watch(kind, params, signal)) {
        if (process.writesLeft <= 0) await dead;
        yield event;
      }
    },
    create: (...call) => (write() ? client.create(...call) : dead),
    update: (...call) => (write() ? client.update(...call) : dead),
    patch: (...call) => (write() ? client.patch(...call) : dead),
    delete: (...call) => (write() ? client.delete(...call) : dead),
    post: (...call) => (write() ? client.post(...call) : dead),
  };
}

function describe({ verb, subresource }: RecordedWrite): string {
  return subresource === undefined ? verb : `${verb}/${subresource}`;
}

function keyIn<T extends KubernetesObject>(
  kind: Kind<T>,
  name: string,
): { namespace?: string; name: string } {
  return kind.namespaced ? { namespace: 'default', name } : { name };
}
