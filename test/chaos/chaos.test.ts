/**
 * Three API servers over three members of etcd, under load, while all of them are killed in turn. Afterwards what clients were told
 * is checked against etcd's history. `CHAOS_SECONDS` is how long (20), `CHAOS_SEED` repeats the choices of a run.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openEtcdBackend } from '../../storage/etcd/backend.js';
import { etcdMissing, startEtcd } from '../../storage/testing/etcd-server.js';
import { afterTest, silent } from '../../storage/testing/level-directory.js';
import { startSurroundings } from '../cluster/cluster.js';
import { check } from './checker.js';
import { breakMembers, breakReplicas, healthy, startSurely } from './faults.js';
import { History } from './history.js';
import { seededRandom } from './random.js';
import { Replica } from './replicas.js';
import { readTruth } from './truth.js';
import { read, watch, write, type Workload } from './workload.js';

const seconds = Number(process.env.CHAOS_SECONDS ?? 20);
const seed = Number(process.env.CHAOS_SEED ?? randomInt(2 ** 31));
const writers = 12;
const readers = 3;
const watchers = 4;

test(
  `${seconds} s of chaos with seed ${seed}: nothing acknowledged is lost, nothing stale is read, no watch skips or repeats`,
  { skip: etcdMissing() ?? false },
  async (t) => {
    const tell = (what: string): void => t.diagnostic(what);
    const etcd = await startEtcd({ size: 3 });
    afterTest(t, () => etcd.stop());
    await Promise.all(etcd.members.map(healthy));
    const surroundings = await startSurroundings();
    afterTest(t, () => surroundings.close());
    const endpoints = etcd.members.map(({ endpoint }) => endpoint);
    const flags = ['--etcd-servers', endpoints.join(), '--log-level', process.env.LOG_LEVEL ?? 'silent'];
    const replicas = [0, 1, 2].map((index) => new Replica(index, surroundings, flags));
    for (const replica of replicas) afterTest(t, () => replica.end('SIGKILL'));
    await Promise.all(replicas.map((replica) => startSurely(replica, tell)));

    const random = seededRandom(seed);
    const history = new History();
    const workload: Workload = { replicas, history, random };
    const stop = new AbortController();
    let end = Infinity;
    afterTest(t, () => {
      stop.abort();
      end = 0;
    });
    const watching = Promise.all(
      Array.from({ length: watchers }, (_, i) => watch(workload, `watcher-${i}`, () => end)),
    );
    const working = Promise.all([
      ...Array.from({ length: writers }, (_, i) => write(workload, `writer-${i}`, stop.signal)),
      ...Array.from({ length: readers }, () => read(workload, stop.signal)),
    ]);
    const breaking = Promise.all([
      breakReplicas(replicas, seededRandom(seed + 1), tell, stop.signal),
      breakMembers(etcd.members, seededRandom(seed + 2), tell, stop.signal),
    ]);
    const backend = await openEtcdBackend({ endpoints, logger: silent, compactionMilliseconds: 0 });
    afterTest(t, () => backend.close());
    try {
      await Promise.race([setTimeout(seconds * 1000), watching, working, breaking]);
    } finally {
      stop.abort();
    }
    const [faultsOfReplicas, faultsOfMembers] = await breaking;
    await working;
    const truth = await readTruth(backend, '/instancetype.kubevirt.io/virtualmachinepreferences/');
    end = truth.at(-1)?.revision ?? 0;
    await watching;

    const count = (outcome: string): number =>
      history.writes.filter((record) => record.outcome === outcome).length;
    const lists = history.reads.filter(({ result }) => result.kind === 'list').length;
    tell(
      `${truth.length} changes; writes: ${count('done')} acknowledged, ${count('refused')} refused, ${count('unknown')} without a word; ` +
        `${lists} lists, ${history.reads.length - lists} gets; ${history.watches.length} watches by ${watchers} watchers; ` +
        `${faultsOfReplicas} replicas and ${faultsOfMembers} members were ended`,
    );
    assert.ok(faultsOfReplicas > 0 && faultsOfMembers > 0 && count('done') > 0 && lists > 0);
    assert.deepEqual(check(history, truth), [], `seed ${seed}`);
  },
);
