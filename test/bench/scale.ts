/**
 * Thousands of VMs on nodes whose launchers are stubs, with everything on this machine: the API server in a process, all controllers in
 * a second, the nodes and their agents in this one. What a VM costs until it runs; what stopping, losing a node and restarting the
 * controllers costs; and that nothing is written when nothing happens.
 */
import { machineLoad, verdict } from './measure.js';
import { cpuMilliseconds, residentBytes } from './process-figures.js';
import { ScaleCluster } from './scale-cluster.js';
import type { ControllerFigures } from './scale-controllers.js';
import { machineKinds, type Tally } from './scale-writes.js';
import { BenchClient } from './server.js';
import { kilobytes, megabytes, milliseconds, percentile, table } from './table.js';

const collection = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const clients = 16;
/** The size of a node, and so how many VMs a lost one takes along. */
const machinesPerNode = 400;
const patience = 1_800_000;
/** When nothing is written for so long, it has settled. Milliseconds. */
const settled = 3000;
const restPeriod = 60_000;
const goals = { untilRunning: 8, stop: 4, events: 3, memory: 20 } as const;

const name = (index: number): string => `vm-${index}`;
const nodeName = (index: number): string => `node-${index}`;

const machine = (index: number): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: name(index), labels: { app: `app-${index % 20}` } },
  spec: {
    runStrategy: 'Always',
    template: {
      metadata: { labels: { 'kubevirt.io/vm': name(index) } },
      spec: {
        terminationGracePeriodSeconds: 30,
        domain: {
          cpu: { cores: 1 },
          memory: { guest: '512Mi' },
          devices: {
            disks: ['root', 'seed'].map((disk) => ({ name: disk, disk: { bus: 'virtio' } })),
            interfaces: [{ name: 'default', masquerade: {} }],
            rng: {},
          },
        },
        networks: [{ name: 'default', pod: {} }],
        volumes: [
          { name: 'root', containerDisk: { image: 'registry.example.com/images/base:1.2.3' } },
          { name: 'seed', cloudInitNoCloud: { userData: `#cloud-config\nhostname: ${name(index)}\n` } },
        ],
      },
    },
  },
});

type Request = (client: BenchClient, index: number) => ReturnType<BenchClient['request']>;

const create: Request = (client, index) => client.request('POST', collection, machine(index));
const remove: Request = (client, index) => client.request('DELETE', `${collection}/${name(index)}`);
const halt: Request = (client, index) =>
  client.request(
    'PATCH',
    `${collection}/${name(index)}`,
    { spec: { runStrategy: 'Halted' } },
    { 'content-type': 'application/merge-patch+json' },
  );

const writesOf = (tally: Tally): number => machineKinds.reduce((sum, kind) => sum + (tally[kind] ?? 0), 0);
const removalsOf = (tally: Tally): number =>
  machineKinds.reduce((sum, kind) => sum + (tally[`${kind} removed`] ?? 0), 0);
const detail = (tally: Tally, each: number): string =>
  Object.entries(tally)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${kind} ${(count / each).toFixed(2)}`)
    .join(', ');
const per = (value: number, each: number, goal: number): string =>
  `${(value / each).toFixed(2)} (≤ ${goal}: ${verdict(Number((value / each).toFixed(2)), goal)})`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

class ScaleBench {
  readonly rows: string[][] = [];
  readonly #pool: readonly BenchClient[];

  constructor(
    private readonly cluster: ScaleCluster,
    private readonly machines: number,
  ) {
    this.#pool = Array.from({ length: clients }, () => new BenchClient(cluster.server));
  }

  close(): void {
    for (const client of this.#pool) client.close();
  }

  async start(): Promise<ControllerFigures> {
    const { cluster } = this;
    for (let index = 0; index < Math.max(2, this.machines / machinesPerNode); index++)
      cluster.addNode(nodeName(index));
    // What is made once, by the first VM, is no part of what each costs.
    await this.#each([this.machines], create);
    await cluster.counter.until(
      'the first VM runs',
      () => cluster.counter.count('Running') === 1,
      patience,
      settled,
    );
    cluster.counter.take();
    return cluster.controllers.figures();
  }

  async creation(empty: ControllerFigures): Promise<void> {
    const { cluster, machines } = this;
    const { counter, controllers, server } = cluster;
    const cpu = (): number[] => [server.pid, controllers.pid, process.pid].map(cpuMilliseconds);
    const before = cpu();
    const begin = performance.now();
    const sent = await this.#each(indexes(0, machines), create);
    const accepted = performance.now() - begin;
    const end = await counter.until(
      'all run',
      () => counter.count('Running') === machines + 1,
      patience,
      settled,
    );
    const spent = cpu().map((value, index) => (value - (before[index] ?? 0)) / machines);
    const latencies = [...sent]
      .map(([index, at]) => (counter.runningAt.get(name(index)) ?? Number.NaN) - at)
      .sort((a, b) => a - b);
    const tally = counter.take();
    const figures = await controllers.figures();
    const heap = (figures.heap - empty.heap) / machines;
    this.#row('created', `${machines} in ${seconds(accepted)}, all Running after ${seconds(end - begin)}`);
    this.#row(
      'creation → Running',
      `P50 ${seconds(percentile(latencies, 0.5))}, P95 ${seconds(percentile(latencies, 0.95))}, P99 ${seconds(percentile(latencies, 0.99))}`,
    );
    // The one by which the user creates it is not ours.
    this.#row('writes until Running', per(writesOf(tally) - machines, machines, goals.untilRunning));
    this.#row('events', per(tally['events'] ?? 0, machines, goals.events));
    this.#row('', detail(tally, machines));
    this.#row(
      'memory of the controllers',
      `${kilobytes(heap)} a VM (≤ ${goals.memory}: ${verdict(heap / 1024, goals.memory)}); resident ${megabytes(residentBytes(controllers.pid))}, API server ${megabytes(residentBytes(server.pid))}`,
    );
    this.#row(
      'CPU a VM',
      `API server ${milliseconds(spent[0] ?? 0)} ms, controllers ${milliseconds(spent[1] ?? 0)} ms, stubs and clients ${milliseconds(spent[2] ?? 0)} ms`,
    );
    this.#queues(figures);
  }

  async rest(): Promise<void> {
    const { counter } = this.cluster;
    counter.take();
    await new Promise<void>((resolve) => {
      setTimeout(resolve, restPeriod);
    });
    const { leases = 0, nodes = 0, ...others } = counter.take();
    const writes = Object.values(others).reduce((sum, count) => sum + count, 0);
    this.#row(
      'at rest for a minute',
      `${writes} writes (0: ${verdict(writes, 0)}); heartbeats of nodes: ${leases} leases, ${nodes} nodes`,
    );
  }

  async stops(count: number): Promise<void> {
    const { counter } = this.cluster;
    const done = (): boolean => counter.count('Stopped') === count;
    const tally = await this.#change(`${count} stopped`, indexes(0, count), halt, done);
    // The one by which the user asks is not ours.
    const writes = writesOf(tally) - count;
    const removals = removalsOf(tally);
    this.#row(
      'writes per stop',
      `${per(writes - removals, count, goals.stop)}, and ${(removals / count).toFixed(2)} removals; ${detail(tally, count)}`,
    );
  }

  async deletion(from: number, count: number): Promise<void> {
    const { counter } = this.cluster;
    const left = counter.machines - count;
    const done = (): boolean => counter.machines === left;
    const tally = await this.#change(`${count} deleted at once`, indexes(from, count), remove, done);
    this.#row('', detail(tally, count));
  }

  async lostNode(): Promise<void> {
    const { cluster } = this;
    const { counter } = cluster;
    const running = counter.count('Running');
    const lost = nodeName(0);
    counter.take();
    let begin = performance.now();
    cluster.loseNode(lost);
    // Its lease has to lapse first.
    await counter.until('the node is missed', () => counter.quietFor < settled, 120_000);
    let end = await counter.until('the loss is told', () => true, patience, settled);
    this.#row('a node falls silent', `told after ${seconds(end - begin)}; ${detail(counter.take(), 1)}`);
    begin = performance.now();
    await this.#pool[0]?.request('DELETE', `/api/v1/nodes/${lost}`);
    await counter.until('its pods are removed', () => counter.quietFor < settled, 120_000);
    end = await counter.until(
      'its VMs run elsewhere',
      () => counter.count('Running') === running,
      patience,
      settled,
    );
    this.#row(
      'the node is deleted',
      `its VMs run elsewhere after ${seconds(end - begin)}; ${detail(counter.take(), 1)}`,
    );
  }

  async restart(): Promise<void> {
    const { cluster } = this;
    cluster.counter.take();
    const begin = performance.now();
    await cluster.restartControllers();
    await cluster.controllers.idle(cluster.counter.machines);
    const steady = performance.now() - begin;
    await cluster.counter.until('quiet', () => true, patience, settled);
    const tally = cluster.counter.take();
    this.#row(
      'controllers restarted',
      `steady after ${seconds(steady)}, ${writesOf(tally) + (tally['events'] ?? 0)} writes`,
    );
  }

  async #change(
    title: string,
    which: readonly number[],
    request: Request,
    done: () => boolean,
  ): Promise<Tally> {
    const { counter, controllers } = this.cluster;
    counter.take();
    await controllers.figures();
    const begin = performance.now();
    await this.#each(which, request);
    const asked = performance.now() - begin;
    const end = await counter.until(title, done, patience, settled);
    this.#row(title, `asked for in ${seconds(asked)}, steady after ${seconds(end - begin)}`);
    this.#queues(await controllers.figures());
    return counter.take();
  }

  #queues({ latencies, outcomes }: ControllerFigures): void {
    const sorted = Object.values(latencies)
      .flat()
      .sort((a, b) => a - b);
    const bad = Object.entries(outcomes).filter(([outcome]) => !outcome.endsWith('success'));
    const worst = Object.entries(latencies)
      .map(
        ([queue, values]) =>
          [
            queue,
            percentile(
              values.toSorted((a, b) => a - b),
              0.99,
            ),
          ] as const,
      )
      .sort((a, b) => b[1] - a[1])
      .slice(0, 3)
      .map(([queue, value]) => `${queue} ${milliseconds(value)}`);
    this.#row(
      'queue latency, ms',
      `P99 ${milliseconds(percentile(sorted, 0.99))} (${worst.join(', ')}); ${sorted.length} reconciliations${bad.map(([outcome, count]) => `, ${count} ${outcome}`).join('')}`,
    );
  }

  #row(title: string, value: string): void {
    this.rows.push([title, value]);
    process.stderr.write(`scale: ${title}: ${value}\n`);
  }

  /** Sends one request for each index, as fast as the server takes them; returns when each was sent. */
  async #each(which: readonly number[], request: Request): Promise<Map<number, number>> {
    const sent = new Map<number, number>();
    const rest = which[Symbol.iterator]();
    await Promise.all(
      this.#pool.map(async (client) => {
        for (const index of rest) {
          sent.set(index, performance.now());
          const { status, body } = await request(client, index);
          if (status >= 300)
            throw new Error(`${name(index)} was answered with ${status}: ${body.toString()}`);
        }
      }),
    );
    return sent;
  }
}

const indexes = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

export async function benchScale(machines: number): Promise<string> {
  const before = machineLoad();
  const cluster = await ScaleCluster.start();
  const bench = new ScaleBench(cluster, machines);
  try {
    const tenth = Math.max(1, Math.floor(machines / 10));
    await bench.creation(await bench.start());
    await bench.rest();
    await bench.restart();
    await bench.stops(tenth);
    await bench.deletion(tenth, tenth);
    await bench.lostNode();
    return `${table([`${machines} VMs`, ''], bench.rows)}\n\n${before} at the start, ${machineLoad()} at the end`;
  } finally {
    bench.close();
    await cluster.stop();
  }
}
