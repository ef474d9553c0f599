/**
 * The API server over an etcd that is started for it: the table of `api`, and its writes beside those of a bare client of the same etcd,
 * of the same sizes, as many at a time. On one machine both ends share the CPU with etcd, and what is compared is what they cost; where
 * etcd is some way off, as members in other zones are, what is compared is how much of etcd's own pace reaches the clients.
 */
import { startEtcd, type EtcdCluster } from '../../storage/testing/etcd-server.js';
import { clients, measureWrites, reportApi, writeNames, type WriteRates } from './api.js';
import { bareWrites } from './bare-etcd.js';
import { verdict } from './measure.js';
import { startReplica } from './replica.js';
import { table } from './table.js';

/** Of a VMI of the benchmark as it is stored. */
const storedBytes = 5200;
const count = 2400;
/** Milliseconds to etcd and as many back. */
const awayMilliseconds = 10;
const goal = 0.8;
const rounds = 3;

interface Pair {
  readonly server: WriteRates;
  readonly bare: WriteRates;
}

export async function benchApiEtcd(): Promise<string> {
  const etcd = await startEtcd();
  try {
    const near = await startReplica(etcd, 0);
    let report: string;
    let here: Pair;
    try {
      report = await reportApi(near);
      here = await compare(near);
    } finally {
      await near.stop();
    }
    const there = await compareAway(etcd);
    return [
      report,
      `etcd on this machine, ${clients} writes at a time`,
      shares(here),
      `etcd ${awayMilliseconds} ms away, ${clients} writes at a time`,
      shares(there, goal),
    ].join('\n\n');
  } finally {
    await etcd.stop();
  }
}

async function compareAway(etcd: EtcdCluster): Promise<Pair> {
  const server = await startReplica(etcd, awayMilliseconds);
  try {
    await measureWrites(server, 'warm', count);
    return await compare(server);
  } finally {
    await server.stop();
  }
}

/** In turns, as the machine may have other work; the best of each counts. */
async function compare(server: Awaited<ReturnType<typeof startReplica>>): Promise<Pair> {
  let pair: Pair | undefined;
  for (let round = 0; round < rounds; round++) {
    const bare = await bareWrites(server.endpoints, count, clients, storedBytes);
    const rates = await measureWrites(server, `round-${round}`, count);
    pair = pair ? { server: best(pair.server, rates), bare: best(pair.bare, bare) } : { server: rates, bare };
  }
  if (pair === undefined) throw new Error('nothing was measured');
  return pair;
}

const best = (a: WriteRates, b: WriteRates): WriteRates => ({
  create: Math.max(a.create, b.create),
  'merge patch': Math.max(a['merge patch'], b['merge patch']),
  delete: Math.max(a.delete, b.delete),
});

function shares({ server, bare }: Pair, least?: number): string {
  const rows = writeNames.map((name) => {
    const share = server[name] / bare[name];
    return [
      name,
      server[name].toFixed(0),
      bare[name].toFixed(0),
      `${(share * 100).toFixed(0)} %`,
      ...(least === undefined ? [] : [`≥ ${least * 100} %`, verdict(-share, -least)]),
    ];
  });
  const goalTitles = least === undefined ? [] : ['goal', ''];
  return table(['write', 'API server a second', 'bare client a second', 'share', ...goalTitles], rows);
}
