/** Requests, answers and events in every order: each VM ends with one instance and one launcher, and never had two. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ControllerDependencies } from './dependencies.js';
import { createDisruptionBudgetController } from './disruption-budget/disruption-budget-controller.js';
import { podDisruptionBudgets, pods, virtualMachineInstances } from './runtime/kinds.js';
import { isControlledBy } from './runtime/writes.js';
import { happen, inAnyOrder } from './testing/any-order.js';
import { guest, Harness } from './testing/harness.js';
import { History } from './testing/history.js';
import { SimulatedNode } from './testing/simulated-node.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';

const controllers = [
  createVirtualMachineController,
  createDisruptionBudgetController,
  (deps: ControllerDependencies) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
];

const happenings = ['bindPods', 'startPods', 'startGuests', 'finishPods', 'evict', 'restart'] as const;
type Happening = (typeof happenings)[number];

class World {
  readonly harness = new Harness();
  readonly history = new History();
  readonly #node = new SimulatedNode(this.harness.client, this.harness.clock);
  readonly #stop = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(private readonly scheduler: fc.Scheduler) {
    this.harness.through = (client) => inAnyOrder(client, scheduler);
  }

  async begin(): Promise<void> {
    this.#following = this.history.follow(this.harness.client, this.#stop.signal);
    await this.harness.createNode();
    await this.harness.start(...controllers);
    const template = { spec: { ...guest(), evictionStrategy: 'External' } };
    await this.harness.createVm({ template });
  }

  async inflict(happening: Happening): Promise<void> {
    const { client } = this.harness;
    switch (happening) {
      case 'evict':
        for (const { metadata } of client.all(pods)) await client.delete(pods, metadata);
        return;
      case 'restart':
        await this.#end();
        await this.harness.start(...controllers);
        return;
      default:
        this.#node[happening]();
    }
  }

  /** Until nothing is left to be done. */
  async settle(): Promise<void> {
    for (let round = 0; round < 8; round++) {
      for (const work of ['finishPods', 'bindPods', 'startPods', 'startGuests'] as const) {
        this.#node[work]();
        await happen(this.scheduler);
      }
      await this.harness.clock.advance(20_000);
      await happen(this.scheduler);
    }
  }

  async end(): Promise<void> {
    await this.#end();
    this.#stop.abort();
    await this.#following;
  }

  /** What is on its way arrives; nobody waits for it any more. */
  async #end(): Promise<void> {
    const stopping = { done: false };
    const stopped = this.harness.stop().then(() => {
      stopping.done = true;
    });
    while (!stopping.done) await happen(this.scheduler);
    await stopped;
  }
}

test('whatever comes first, a VM ends with one instance, one launcher and one budget', async () => {
  const step = fc.record({ happens: fc.constantFrom(...happenings), after: fc.nat(12) });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 8 }), async (scheduler, steps) => {
      const world = new World(scheduler);
      await world.begin();
      for (const { happens, after } of steps) {
        await happen(scheduler, after);
        await world.inflict(happens);
      }
      await world.settle();
      const { client } = world.harness;
      assert.deepEqual(world.history.violations, []);
      const [vmi, ...others] = client.all(virtualMachineInstances);
      assert.equal(others.length, 0);
      assert.equal(vmi?.status?.phase, 'Running');
      const launchers = client.all(pods).filter((pod) => isControlledBy(pod, vmi));
      assert.equal(launchers.length, 1);
      assert.equal(client.all(podDisruptionBudgets).filter((each) => isControlledBy(each, vmi)).length, 1);
      await world.end();
    }),
    { numRuns: Number(process.env['RUNS'] ?? 40) },
  );
});
