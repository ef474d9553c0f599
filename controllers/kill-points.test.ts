/**
 * Whenever the process with the controllers is killed, before or after any of its calls, and whichever answer is lost: what comes of it is
 * what comes of an undisturbed life, and nothing was made twice.
 *
 * Every call of every scenario is a point once for each mode. They are shuffled by `SEED`, and dealt out to lives of a few each.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../openapi/meta.js';
import type { Kind } from './runtime/client.js';
import { settle } from './runtime/testing/fake-clock.js';
import { Harness } from './testing/harness.js';
import { scenarios, type Scenario } from './testing/kill-scenarios.js';
import { killModes, KillSwitch, type KillMode } from './testing/kill-switch.js';
import { SimulatedNode } from './testing/simulated-node.js';

type Points = ReadonlyMap<number, KillMode>;

interface Life {
  readonly calls: number;
  /** How often it was killed, or lost an answer. */
  readonly struck: number;
  /** How many objects there ever were, by resource. */
  readonly born: Readonly<Record<string, number>>;
  readonly end: unknown;
}

const seed = Number(process.env['SEED'] ?? 20_261_129);
const pointsPerLife = 6;

async function live(scenario: Scenario, points: Points): Promise<Life> {
  const harness = new Harness();
  const node = new SimulatedNode(harness.client, harness.clock);
  const kill = new KillSwitch(points);
  harness.through = kill.through;
  const revive = async (): Promise<void> => {
    while (kill.killed) await harness.start(...scenario.controllers);
  };
  const calm = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await harness.clock.advance(4000);
      await revive();
      for (const work of ['finishPods', 'startPods', 'startGuests'] as const) {
        if (scenario.pods) node[work]();
        await settle();
        await revive();
      }
    }
  };
  const born = new Map(scenario.kinds.map(({ resource }) => [resource, new Set<string>()]));
  const stop = new AbortController();
  const counting = scenario.kinds.map((kind) => countBirths(harness, kind, born, stop.signal));
  await scenario.prepare(harness);
  await harness.start(...scenario.controllers);
  for (const step of scenario.steps) {
    await step(harness);
    await settle();
    await revive();
    await calm();
  }
  await calm();
  stop.abort();
  await Promise.allSettled(counting);
  const end = scenario.kinds.map((kind) => harness.client.all(kind).map(essence).sort());
  await harness.stop();
  return {
    calls: kill.calls,
    struck: kill.struck,
    born: Object.fromEntries([...born].map(([resource, uids]) => [resource, uids.size])),
    end,
  };
}

async function countBirths(
  harness: Harness,
  kind: Kind<KubernetesObject>,
  born: ReadonlyMap<string, Set<string>>,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of harness.client.watch(kind, { resourceVersion: '0' }, signal))
    if (event.type === 'ADDED') born.get(kind.resource)?.add(event.object.metadata.uid);
}

/** What of an object must be the same in every life: not its name, its identity and its times. */
function essence(object: KubernetesObject & { status?: object; spec?: object }): string {
  const { metadata, status } = object;
  const told = JSON.stringify(status ?? {}, (name, value: unknown) =>
    varying.test(name) ? undefined : value,
  );
  return JSON.stringify([
    object.kind,
    metadata.deletionTimestamp === undefined,
    [...(metadata.finalizers ?? [])].sort(),
    (metadata.ownerReferences ?? []).map(({ kind }) => kind),
    told.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID').replace(/-[0-9a-z]{5,}"/g, '-NAME"'),
  ]);
}

const varying = /timestamp|time$|uid|observedGeneration|desiredGeneration|lastTransition/i;

/** Numbers in [0, 1), the same for the same seed. */
function mulberry(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

let total = 0;
for (const scenario of scenarios)
  test(`${scenario.name}: killed anywhere, it ends the same`, async () => {
    const undisturbed = await live(scenario, new Map());
    assert.ok(undisturbed.calls > 0);
    const all = Array.from({ length: undisturbed.calls }, (_, call) =>
      killModes.map((mode) => [call, mode] as const),
    ).flat();
    const dealt = shuffled(all, mulberry(seed));
    for (let start = 0; start < dealt.length; start += pointsPerLife) {
      const points = new Map(dealt.slice(start, start + pointsPerLife));
      const { end, born, struck } = await live(scenario, points);
      const where = `seed ${seed}: ${[...points].map(([call, mode]) => `${mode} call ${call}`).join(', ')}`;
      assert.deepEqual(end, undisturbed.end, where);
      assert.deepEqual(born, undisturbed.born, where);
      total += struck;
    }
  });

test('those were at least five hundred points', (t) => {
  t.diagnostic(`${total} kill points, seed ${seed}`);
  assert.ok(total >= 500, `only ${total}`);
});
