/**
 * The API server alone: 2,400 VMIs of about 5.2 kB, 16 clients over TLS, durable writes. What is measured is a server at work,
 * so that it first does each kind of work some hundred times: before that, it is compiling itself.
 */
import {
  figures,
  figureTitles,
  machineLoad,
  measure,
  verdict,
  type Measured,
  type Operation,
} from './measure.js';
import { collection, instance } from './objects.js';
import { residentBytes } from './process-figures.js';
import { BenchClient, startServer, type BenchServer } from './server.js';
import { kilobytes, milliseconds, table } from './table.js';

const objects = 2400;
/** Done before: a server is measured as it is after its first minute, when its code is compiled. */
const warmObjects = 4000;
/** So many that what a server grows and shrinks by itself does not show. */
const keptObjects = 20_000;
export const clients = 16;
const watchers = 50;
const updates = 300;
/** kB an object. */
const memoryGoal = 15;
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };

/** What one operation may cost: milliseconds of the server's CPU. */
const goals = {
  create: 0.8,
  get: 0.18,
  'merge patch': 0.85,
  'list of all': 60,
  'list by label (5 %)': 3,
  'table of all': 40,
  'watch, an event and watcher': 0.02,
  delete: 0.6,
} as const;

interface Work {
  readonly name: keyof typeof goals | 'finalizers';
  readonly count: number;
  /** One at a time. */
  readonly alone?: boolean;
  readonly one: Operation;
}

/** What is done, in order, to `count` objects called `prefix-N`. */
function works(prefix: string, count: number): readonly Work[] {
  const name = (index: number): string => `${prefix}-${index % count}`;
  const path = (index: number): string => `${collection}/${name(index)}`;
  return [
    {
      name: 'create',
      count,
      one: (client, index) => client.request('POST', collection, instance(name(index), index)),
    },
    { name: 'get', count: count * 2, one: (client, index) => client.request('GET', path(index)) },
    {
      name: 'merge patch',
      count,
      one: (client, index) => patch(client, path(index), { labels: { touched: `t${index}` } }),
    },
    { name: 'list of all', count: 20, alone: true, one: (client) => client.request('GET', collection) },
    {
      name: 'list by label (5 %)',
      count: 100,
      alone: true,
      one: (client) => client.request('GET', `${collection}?labelSelector=app%3Dapp-3`),
    },
    {
      name: 'table of all',
      count: 20,
      alone: true,
      one: (client) => client.request('GET', collection, undefined, asTable),
    },
    // The finalizer would hold the objects; taking it off is not what is measured.
    { name: 'finalizers', count, one: (client, index) => patch(client, path(index), { finalizers: null }) },
    { name: 'delete', count, one: (client, index) => client.request('DELETE', path(index)) },
  ];
}

const patch = (client: BenchClient, path: string, metadata: object): ReturnType<Operation> =>
  client.request('PATCH', path, { metadata }, { 'content-type': 'application/merge-patch+json' });

/** Bytes that the server grows by for each of many more objects. */
async function memoryOfObjects(server: BenchServer, pool: readonly BenchClient[]): Promise<number> {
  const empty = residentBytes(server.pid);
  const create = works('kept', keptObjects)[0];
  if (create === undefined) throw new Error('no work creates');
  await measure(server, pool, create.name, create.count, create.one);
  return (residentBytes(server.pid) - empty) / keptObjects;
}

/** Updates of one object that `watchers` watch, as one figure an event and watcher: what the same updates cost unwatched is taken off. */
async function measureWatch(server: BenchServer, client: BenchClient): Promise<Measured> {
  const watchedObject = {
    ...instance('watched', 0),
    metadata: { name: 'watched', labels: { watched: 'yes' } },
  };
  await client.request('POST', collection, watchedObject);
  const update: Operation = (one, index) =>
    patch(one, `${collection}/watched`, { annotations: { n: `${index}-${performance.now()}` } });
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

/** The writes whose rates say how near a server comes to its store, and how many of each second it does. */
export const writeNames = ['create', 'merge patch', 'delete'] as const;
export type WriteRates = Readonly<Record<(typeof writeNames)[number], number>>;

/** Does them to `count` objects called `prefix-N`. */
export async function measureWrites(server: BenchServer, prefix: string, count: number): Promise<WriteRates> {
  const pool = Array.from({ length: clients }, () => new BenchClient(server));
  const rates = { create: 0, 'merge patch': 0, delete: 0 };
  try {
    for (const { name, one } of works(prefix, count)) {
      const kept = writeNames.find((write) => write === name);
      if (kept === undefined && name !== 'finalizers') continue;
      const { seconds } = await measure(server, pool, name, count, one);
      if (kept !== undefined) rates[kept] = count / seconds;
    }
  } finally {
    for (const client of pool) client.close();
  }
  return rates;
}

export async function benchApi(): Promise<string> {
  const server = await startServer(['--controllers=']);
  try {
    return await reportApi(server);
  } finally {
    await server.stop();
  }
}

export async function reportApi(server: BenchServer): Promise<string> {
  const pool = Array.from({ length: clients }, () => new BenchClient(server));
  const alone = pool.slice(0, 1);
  const [first] = pool;
  if (first === undefined) throw new Error('no client');
  try {
    const before = machineLoad();
    for (const { name, count, one } of works('warm', warmObjects))
      await measure(server, pool, name, count, one);
    const rows: string[][] = [];
    for (const { name, count, alone: single = false, one } of works('vmi', objects)) {
      if (name === 'finalizers')
        rows.push(figures(await measureWatch(server, first), goals['watch, an event and watcher']));
      const measured = await measure(server, single ? alone : pool, name, count, one);
      if (name !== 'finalizers') rows.push(figures(measured, goals[name]));
    }
    const each = await memoryOfObjects(server, pool);
    return [
      table(figureTitles, rows),
      `${keptObjects} more objects of 5.2 kB: the server grows by ${kilobytes(each)} each (≤ ${memoryGoal}: ${verdict(each / 1024, memoryGoal)}); ready in ${milliseconds(server.startMilliseconds)} ms`,
      `${before} at the start, ${machineLoad()} at the end`,
    ].join('\n\n');
  } finally {
    for (const client of pool) client.close();
  }
}
