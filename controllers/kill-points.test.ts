/**
 * Whenever the process with the controllers is killed, before or after any of its calls, and whichever answer is lost: what comes of it is
 * what comes of an undisturbed life, and nothing was made twice.
 *
 * Every call of every scenario is a point once for each mode. They are shuffled by `SEED`, and dealt out to lives of a few each.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../openapi/meta.js';
import { controllerNames } from './manager.js';
import type { Kind } from './runtime/client.js';
import type { ControllerDependencies } from './dependencies.js';
import { settle } from './runtime/testing/fake-clock.js';
import { Harness } from './testing/harness.js';
import { scenarios } from './testing/kill-scenarios/index.js';
import type { Scenario } from './testing/kill-scenarios/scenario.js';
import { killModes, KillSwitch, type KillMode } from './testing/kill-switch.js';
import { SimulatedNode } from './testing/simulated-node.js';

type Points = ReadonlyMap<number, KillMode>;

interface Life {
  readonly calls: number;
  /** How often it was killed, or lost an answer, at calls of each controller. */
  readonly struck: ReadonlyMap<string, number>;
  /** How many objects there ever were, by resource. */
  readonly born: Readonly<Record<string, number>>;
  readonly end: unknown;
}

const seed = Number(process.env['SEED'] ?? 20_261_129);
const pointsPerLife = 8;

async function live(scenario: Scenario, points: Points): Promise<Life> {
  const harness = new Harness();
  const node = new SimulatedNode(harness.client, harness.clock);
  const kill = new KillSwitch(points);
  harness.through = kill.through;
  const controllers = Object.entries(scenario.controllers).map(
    ([name, create]) =>
      (deps: ControllerDependencies) =>
        create({ ...deps, client: kill.as(name, deps.client) }),
  );
  const revive = async (): Promise<void> => {
    while (kill.killed) await harness.start(...controllers);
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
  await harness.start(...controllers);
  for (const step of scenario.steps) {
    await step(harness);
    await settle();
    await revive();
    await calm();
  }
  await calm();
  stop.abort();
  await Promise.allSettled(counting);
  scenario.check?.(harness);
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

const varying = /timestamp|time$|startedAt|uid|observedGeneration|desiredGeneration|lastTransition/i;

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

const struckAt = new Map<string, number>();
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
      for (const [name, count] of struck) struckAt.set(name, (struckAt.get(name) ?? 0) + count);
    }
  });

test('those were at least five hundred points, some of them in every controller', (t) => {
  const total = [...struckAt.values()].reduce((sum, count) => sum + count, 0);
  const counts = [...struckAt].map(([name, count]) => `${name} ${count}`).join(', ');
  t.diagnostic(`${total} kill points, seed ${seed}: ${counts}`);
  assert.ok(total >= 500, `only ${total}`);
  const spared = controllerNames.filter((name) => (struckAt.get(name) ?? 0) < killModes.length);
  assert.deepEqual(spared, []);
});
