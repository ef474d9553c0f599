/** The API server alone: 2,400 VMIs of about 5.2 kB, 16 clients over TLS, durable writes. */
import { cpuMilliseconds, residentBytes } from './process-figures.js';
import { BenchClient, startServer, type BenchServer } from './server.js';
import { kilobytes, milliseconds, percentile, table } from './table.js';

const objects = 2400;
const clients = 16;
const watchers = 50;
const updates = 300;
const collection = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

/** A realistic spec; what a status would hold is an annotation, so that it is written with the object. */
function instance(index: number): object {
  const disks = ['root', 'data', 'seed'];
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: `vmi-${index}`,
      labels: { app: `app-${index % 20}`, 'kubevirt.io/vm': `vmi-${index}` },
      annotations: {
        'bench/status': JSON.stringify(
          Array.from({ length: 28 }, (_, n) => ({ type: `Condition${n}`, status: 'True', reason: 'Bench' })),
        ),
      },
    },
    spec: {
      domain: {
        cpu: { cores: 2, sockets: 1, threads: 1 },
        memory: { guest: '2Gi' },
        resources: { requests: { cpu: '500m', memory: '2Gi' } },
        devices: {
          disks: disks.map((name) => ({ name, disk: { bus: 'virtio' } })),
          interfaces: [{ name: 'default', masquerade: {} }],
          rng: {},
        },
      },
      networks: [{ name: 'default', pod: {} }],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: Array.from({ length: 4 }, (_, n) => ({
        key: `key-${n}`,
        operator: 'Exists',
        effect: 'NoSchedule',
      })),
      volumes: [
        { name: 'root', containerDisk: { image: 'registry.example.com/images/base:1.2.3' } },
        { name: 'data', persistentVolumeClaim: { claimName: `data-${index}` } },
        {
          name: 'seed',
          cloudInitNoCloud: { userData: `#cloud-config\nhostname: vmi-${index}\n${'# filler\n'.repeat(40)}` },
        },
      ],
    },
  };
}

interface Measured {
  readonly name: string;
  readonly count: number;
  readonly seconds: number;
  readonly latencies: readonly number[];
  readonly cpu: number;
}

/** `count` requests by all clients together. */
async function measure(
  server: BenchServer,
  pool: readonly BenchClient[],
  name: string,
  count: number,
  one: (client: BenchClient, index: number) => Promise<number>,
): Promise<Measured> {
  let next = 0;
  const latencies: number[] = [];
  const cpuBefore = cpuMilliseconds(server.pid);
  const begin = performance.now();
  await Promise.all(
    pool.map(async (client) => {
      for (let index = next++; index < count; index = next++) {
        const start = performance.now();
        const status = await one(client, index);
        if (status >= 300) throw new Error(`${name} ${index} was answered with ${status}`);
        latencies.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  return {
    name,
    count,
    seconds,
    latencies: latencies.sort((a, b) => a - b),
    cpu: cpuMilliseconds(server.pid) - cpuBefore,
  };
}

/** Updates of one object that `watchers` watch, as one figure an event and watcher: what the same updates cost unwatched is taken off. */
async function measureWatch(server: BenchServer, client: BenchClient): Promise<Measured> {
  const patch = { 'content-type': 'application/merge-patch+json' };
  const watchedObject = { ...instance(objects), metadata: { name: 'watched', labels: { watched: 'yes' } } };
  await client.request('POST', collection, watchedObject);
  const update = async (one: BenchClient, index: number): Promise<number> => {
    const change = { metadata: { annotations: { n: `${index}-${performance.now()}` } } };
    return (await one.request('PATCH', `${collection}/watched`, change, patch)).status;
  };
  const unwatched = await measure(server, [client], 'patch', updates, update);
  const watching = Array.from({ length: watchers }, () => new BenchClient(server));
  let received = 0;
  const path = `${collection}?watch=1&resourceVersion=0&labelSelector=watched`;
  const watches = watching.map((each) => each.watch(path, () => received++));
  await Promise.all(watches.map((watch) => watch.open));
  const watched = await measure(server, [client], 'watch, an event and watcher', updates, update);
  for (const watch of watches) watch.stop();
  for (const each of watching) each.close();
  if (received < updates * watchers * 0.9)
    throw new Error(`only ${received} of ${updates * watchers} events came`);
  return { ...watched, cpu: Math.max(0, watched.cpu - unwatched.cpu), count: updates * watchers };
}

export async function benchApi(): Promise<string> {
  const server = await startServer(['--controllers=']);
  const pool = Array.from({ length: clients }, () => new BenchClient(server));
  const [first] = pool;
  if (first === undefined) throw new Error('no client');
  try {
    const patch = { 'content-type': 'application/merge-patch+json' };
    const warm = await first.request('POST', `${collection}?dryRun=All`, instance(0));
    if (warm.status !== 201) throw new Error(warm.body.toString());
    const empty = residentBytes(server.pid);
    const rows: Measured[] = [];
    const step = async (
      name: string,
      count: number,
      one: (client: BenchClient, index: number) => Promise<number>,
      by = pool,
    ): Promise<void> => {
      rows.push(await measure(server, by, name, count, one));
    };
    await step(
      'create',
      objects,
      async (client, index) => (await client.request('POST', collection, instance(index))).status,
    );
    const full = residentBytes(server.pid);
    const size = (await first.request('GET', `${collection}/vmi-7`)).body.length;
    await step(
      'get',
      objects * 2,
      async (client, index) => (await client.request('GET', `${collection}/vmi-${index % objects}`)).status,
    );
    await step(
      'merge patch',
      objects,
      async (client, index) =>
        (
          await client.request(
            'PATCH',
            `${collection}/vmi-${index}`,
            { metadata: { labels: { touched: `t${index}` } } },
            patch,
          )
        ).status,
    );
    await step('list of all', 20, async (client) => (await client.request('GET', collection)).status, [
      first,
    ]);
    await step(
      'list by label (5 %)',
      100,
      async (client) => (await client.request('GET', `${collection}?labelSelector=app%3Dapp-3`)).status,
      [first],
    );
    await step(
      'table of all',
      20,
      async (client) => (await client.request('GET', collection, undefined, asTable)).status,
      [first],
    );
    rows.push(await measureWatch(server, first));
    // The finalizer would hold the objects; taking it off is not what is measured.
    await measure(server, pool, 'finalizers', objects, async (client, index) => {
      const change = { metadata: { finalizers: null } };
      return (await client.request('PATCH', `${collection}/vmi-${index}`, change, patch)).status;
    });
    await step(
      'delete',
      objects,
      async (client, index) => (await client.request('DELETE', `${collection}/vmi-${index}`)).status,
    );
    const text = table(
      ['work', 'per second', 'p50 ms', 'p99 ms', 'server CPU ms'],
      rows.map(({ name, count, seconds, latencies, cpu }) => [
        name,
        (count / seconds).toFixed(0),
        milliseconds(percentile(latencies, 0.5)),
        milliseconds(percentile(latencies, 0.99)),
        (cpu / count).toFixed(3),
      ]),
    );
    return `${text}\n\nobjects of ${kilobytes(size)}; ${kilobytes((full - empty) / objects)} of memory each; ready in ${milliseconds(server.startMilliseconds)} ms`;
  } finally {
    for (const client of pool) client.close();
    await server.stop();
  }
}
