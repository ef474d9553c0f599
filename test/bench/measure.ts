/** Many requests by several clients together, and what they cost the server. */
import { loadavg } from 'node:os';
import { cpuMilliseconds } from './process-figures.js';
import type { BenchClient, BenchResponse, BenchServer } from './server.js';
import { milliseconds, percentile } from './table.js';

export interface Measured {
  readonly name: string;
  /** What the cost is divided by. */
  readonly count: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
  /** Milliseconds of the server's CPU, all threads. */
  readonly cpu: number;
}

export type Operation = (client: BenchClient, index: number) => Promise<BenchResponse>;

/** `count` times `one`. Throws for an answer that is no success. */
export async function measure(
  server: BenchServer,
  clients: readonly BenchClient[],
  name: string,
  count: number,
  one: Operation,
): Promise<Measured> {
  let next = 0;
  const latencies: number[] = [];
  const cpuBefore = cpuMilliseconds(server.pid);
  const begin = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      for (let index = next++; index < count; index = next++) {
        const start = performance.now();
        const { status, body } = await one(client, index);
        if (status >= 300)
          throw new Error(`${name} ${index} was answered with ${status}: ${body.toString()}`);
        latencies.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  const cpu = cpuMilliseconds(server.pid) - cpuBefore;
  return { name, count, seconds, latencies: latencies.sort((a, b) => a - b), cpu };
}

export const figureTitles = ['work', 'per second', 'p50 ms', 'p99 ms', 'server CPU ms', 'goal', ''];

/** A row of a table; `goal` is the server's CPU per operation, in milliseconds. */
export function figures({ name, count, seconds, latencies, cpu }: Measured, goal: number): string[] {
  return [
    name,
    (count / seconds).toFixed(0),
    milliseconds(percentile(latencies, 0.5)),
    milliseconds(percentile(latencies, 0.99)),
    (cpu / count).toFixed(3),
    `≤ ${goal}`,
    verdict(cpu / count, goal),
  ];
}

export const verdict = (value: number, goal: number): string => (value <= goal ? 'met' : 'missed');

/** Other work on the machine makes everything slower, the server's CPU time too. */
export const machineLoad = (): string =>
  `load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`;
