/**
 * Many VMIs of about 5.2 kB and 1,000 open watches in one API server: how long it takes to start on them, how much memory it
 * needs, and how fast it answers. The store is filled before the server starts, with copies of an object that a server wrote.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { KubernetesObject } from '../../openapi/meta.js';
import { encodeStored } from '../../apiserver/codec/stored-bytes.js';
import { openLevelBackend } from '../../storage/level/backend.js';
import { machineLoad, measure, type Operation } from './measure.js';
import { collection, instance } from './objects.js';
import { cpuMilliseconds, residentBytes } from './process-figures.js';
import { BenchClient, startServer, type BenchServer } from './server.js';
import { kilobytes, megabytes, milliseconds, percentile, table } from './table.js';

const watches = 1000;
const clients = 16;
const gets = 20_000;
const updates = 20;
/** So many writes wait for one sync together. */
const concurrency = 512;
const apiOnly = ['--controllers='];

const name = (index: number): string => `vmi-${index}`;

/** An object as the server stores it, and how much memory a server without others takes. */
async function sample(
  directory: string,
): Promise<{ readonly object: KubernetesObject; readonly empty: number }> {
  const server = await startServer(apiOnly, directory);
  const client = new BenchClient(server);
  try {
    const { status, body } = await client.request('POST', collection, instance(name(0), 0));
    if (status !== 201) throw new Error(body.toString());
    return { object: JSON.parse(body.toString()) as KubernetesObject, empty: residentBytes(server.pid) };
  } finally {
    client.close();
    await server.stop();
  }
}

async function fill(directory: string, object: KubernetesObject, objects: number): Promise<void> {
  const backend = await openLevelBackend({
    directory: path.join(directory, 'store'),
    logger: pino({ level: 'warn' }),
  });
  try {
    let next = 1;
    const writer = async (): Promise<void> => {
      for (let index = next++; index < objects; index = next++) {
        const labels = { app: `app-${index % 20}`, 'kubevirt.io/vm': name(index) };
        const metadata = { ...object.metadata, name: name(index), uid: randomUUID(), labels };
        await backend.write({
          key: `/kubevirt.io/virtualmachineinstances/default/${name(index)}`,
          expect: 0,
          value: encodeStored({ ...object, metadata }),
        });
      }
    };
    await Promise.all(Array.from({ length: concurrency }, writer));
  } finally {
    await backend.close();
  }
}

interface OpenWatches {
  /** Resolves when every watch has got so many events. */
  received(events: number): Promise<void>;
  close(): void;
}

/** Each on a connection of its own. */
async function openWatches(server: BenchServer): Promise<OpenWatches> {
  let received = 0;
  let awaited = { count: Infinity, resolve: (): void => undefined };
  const watching = Array.from({ length: watches }, () => new BenchClient(server));
  const query = 'watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dvmi-0';
  const open: ReturnType<BenchClient['watch']>[] = [];
  const waiting = watching[Symbol.iterator]();
  const opener = async (): Promise<void> => {
    for (const client of waiting) {
      const watch = client.watch(`${collection}?${query}`, () => {
        received++;
        if (received >= awaited.count) awaited.resolve();
      });
      open.push(watch);
      await watch.open;
    }
  };
  // A thousand handshakes at once would run into the server's time limit for one.
  await Promise.all(Array.from({ length: clients }, opener));
  return {
    received: (events) =>
      new Promise((resolve) => {
        awaited = { count: events * watches, resolve };
        if (received >= awaited.count) resolve();
      }),
    close: () => {
      for (const watch of open) watch.stop();
      for (const client of watching) client.close();
    },
  };
}

/** How long until all watches have heard of an update. Milliseconds, sorted. */
async function deliveries(open: OpenWatches, client: BenchClient): Promise<number[]> {
  await open.received(1);
  const times: number[] = [];
  for (let round = 0; round < updates; round++) {
    const begin = performance.now();
    const change = { metadata: { annotations: { round: `${round}` } } };
    const patched = client.request('PATCH', `${collection}/${name(0)}`, change, {
      'content-type': 'application/merge-patch+json',
    });
    await Promise.all([patched, open.received(round + 2)]);
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b);
}

export async function benchApiObjects(objects: number): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'nativirt-bench-'));
  try {
    const { object, empty } = await sample(directory);
    await fill(directory, object, objects);
    const before = machineLoad();
    const server = await startServer(apiOnly, directory);
    const pool = Array.from({ length: clients }, () => new BenchClient(server));
    try {
      const startCpu = cpuMilliseconds(server.pid);
      const full = residentBytes(server.pid);
      const open = await openWatches(server);
      const watched = residentBytes(server.pid);
      const get: Operation = (client, index) =>
        client.request('GET', `${collection}/${name((index * 7919) % objects)}`);
      await measure(server, pool, 'warm', gets / 4, get);
      const { latencies, cpu } = await measure(server, pool, 'get', gets, get);
      const [client] = pool;
      const times = client === undefined ? [] : await deliveries(open, client);
      open.close();
      const rows = [
        [
          'start until ready',
          `${milliseconds(server.startMilliseconds)} ms, ${milliseconds(startCpu)} ms of CPU`,
        ],
        ['memory with all objects', `${megabytes(full)}: ${kilobytes((full - empty) / objects)} an object`],
        [
          `memory of ${watches} watches`,
          `${megabytes(watched - full)}: ${kilobytes((watched - full) / watches)} a watch`,
        ],
        [
          'get',
          `p50 ${milliseconds(percentile(latencies, 0.5))} ms, p99 ${milliseconds(percentile(latencies, 0.99))} ms, ${(cpu / gets).toFixed(3)} ms of CPU`,
        ],
        [
          'an update, until all watches have it',
          `p50 ${milliseconds(percentile(times, 0.5))} ms, p99 ${milliseconds(percentile(times, 0.99))} ms`,
        ],
        ['memory at the end', megabytes(residentBytes(server.pid))],
      ];
      return `${table([`${objects} objects, ${watches} watches`, ''], rows)}\n\n${before} at the start, ${machineLoad()} at the end`;
    } finally {
      for (const client of pool) client.close();
      await server.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
