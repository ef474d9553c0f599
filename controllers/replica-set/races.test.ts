/** Any order of scaling, deletions behind its back, refusals, lost answers, slow informers and crashes ends as the spec says. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { virtualMachineInstanceReplicaSets, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { isControlledBy } from '../runtime/writes.js';
import { Harness, guest } from '../testing/harness.js';
import { UnreliableWay } from '../testing/unreliable-client.js';
import { standingOf } from './instances.js';
import { createReplicaSetController } from './replica-set-controller.js';

const command = fc.oneof(
  fc.record({ do: fc.constant('scale' as const), count: fc.nat(5) }),
  fc.record({
    do: fc.constantFrom('delete', 'vanish', 'run', 'fail', 'relabel', 'disown'),
    index: fc.nat(5),
  }),
  fc.record({ do: fc.constantFrom('refuse', 'lose', 'crash'), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constantFrom('stray', 'hold', 'release', 'pause', 'resume', 'wait') }),
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const key = { namespace: 'default', name: 'web' };
/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };

class World {
  readonly harness = new Harness();
  readonly way = new UnreliableWay(virtualMachineInstances);
  /** What was created beyond the number: it was decided on what was out of date. */
  readonly excess: string[] = [];
  #strays = 0;

  async start(): Promise<void> {
    this.harness.through = this.way.through;
    await this.harness.client.create(virtualMachineInstanceReplicaSets, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceReplicaSet',
      metadata: key,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { ...unnamed, labels }, spec: guest() },
      },
    });
    await this.harness.start(createReplicaSetController);
    this.harness.client.beforeWrite = ({ verb, resource, key: written }) => {
      if (verb === 'create' && resource === 'virtualmachineinstances' && !written.includes('stray'))
        this.#checkRoom(written);
    };
  }

  get replicaSet() {
    return this.harness.client.get(virtualMachineInstanceReplicaSets, key);
  }

  async members(): Promise<VirtualMachineInstance[]> {
    const replicaSet = await this.replicaSet;
    return this.harness.client
      .all(virtualMachineInstances)
      .filter((vmi) => isControlledBy(vmi, replicaSet) && vmi.metadata.deletionTimestamp === undefined);
  }

  #checkRoom(written: string): void {
    const { client } = this.harness;
    const replicaSet = client.find(virtualMachineInstanceReplicaSets, key);
    assert.ok(replicaSet);
    const all = client.all(virtualMachineInstances);
    // It will be refused, as it exists.
    if (all.some(({ metadata }) => `default/${metadata.name}` === written)) return;
    const active = all.filter((vmi) => isControlledBy(vmi, replicaSet) && standingOf(vmi) === 'active');
    if (active.length >= (replicaSet.spec.replicas ?? 1)) this.excess.push(written);
  }

  async apply(step: Command): Promise<void> {
    const { harness, way } = this;
    const { client } = harness;
    if ('index' in step) {
      const members = await this.members();
      const vmi = members[step.index % Math.max(1, members.length)];
      if (vmi !== undefined) await this.#strike(step.do, vmi);
    } else if (step.do === 'scale') await this.#respec({ replicas: step.count });
    else if ('count' in step) {
      if (step.do === 'refuse') way.refusals = step.count;
      else if (step.do === 'lose') way.losses = step.count;
      else await this.#crash(step.count);
    } else if (step.do === 'hold') way.hold(virtualMachineInstances);
    else if (step.do === 'release') way.release();
    else if (step.do === 'pause' || step.do === 'resume') await this.#respec({ paused: step.do === 'pause' });
    else if (step.do === 'wait') await harness.clock.advance(5000);
    else {
      const name = `stray${(this.#strays += 1)}`;
      await client.create(virtualMachineInstances, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: { namespace: 'default', name, labels },
        spec: guest(),
      });
    }
    await settle();
  }

  #respec(change: { replicas?: number; paused?: boolean }): Promise<void> {
    return this.harness.change(virtualMachineInstanceReplicaSets, 'web', (each) => ({
      ...each,
      spec: { ...each.spec, ...change },
    }));
  }

  async #strike(what: string, vmi: VirtualMachineInstance): Promise<void> {
    const { metadata } = vmi;
    const { harness } = this;
    const { client } = harness;
    const { name } = metadata;
    switch (what) {
      case 'delete':
        return client.delete(virtualMachineInstances, metadata);
      case 'vanish': {
        client.remove(virtualMachineInstances, metadata);
        return;
      }
      case 'run':
        // What has ended does not come back.
        if (standingOf(vmi) === 'active') await harness.startGuest(name);
        return;
      case 'fail':
        return harness.endGuest('Failed', name);
      case 'relabel':
        return harness.change(virtualMachineInstances, name, (vmi) => ({
          ...vmi,
          metadata: { ...vmi.metadata, labels: { app: 'other' } },
        }));
      default:
        return harness.change(virtualMachineInstances, name, (vmi) => ({
          ...vmi,
          metadata: { ...vmi.metadata, ownerReferences: [] },
        }));
    }
  }

  /** The process dies after so many more writes, or at once when nothing makes it write. */
  async #crash(writes: number): Promise<void> {
    this.harness.killAfter(writes);
    await this.harness.clock.advance(1000);
    this.harness.killAfter(0);
    this.way.release();
    await this.harness.start(createReplicaSetController);
  }

  /** Nothing more goes wrong. */
  async calm(): Promise<void> {
    const { harness, way } = this;
    way.refusals = 0;
    way.losses = 0;
    way.release();
    await this.#respec({ paused: false });
    // Expectations that no event will meet have lapsed, and delayed retries have come.
    await harness.clock.advance(700_000);
  }
}

test('ends as the spec says, and never makes one too many', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 14 }), async (commands) => {
      const world = new World();
      await world.start();
      try {
        for (const step of commands) await world.apply(step);
        await world.calm();
        const members = await world.members();
        const { spec, status } = await world.replicaSet;
        assert.deepEqual(world.excess, []);
        assert.equal(members.length, spec.replicas);
        assert.ok(members.every((vmi) => standingOf(vmi) === 'active'));
        assert.equal(status?.replicas, spec.replicas);
        assert.equal(status?.conditions, undefined);
      } finally {
        world.way.release();
        await world.harness.stop();
      }
    }),
    {
      numRuns: 150,
      examples: [[[{ do: 'hold' }, { do: 'fail', index: 2 }, { do: 'run', index: 0 }]]],
    },
  );
});
