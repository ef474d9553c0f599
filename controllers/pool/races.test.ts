/** Any order of scaling, updates, deletions behind its back, refusals, lost answers, slow informers and crashes ends as the spec says. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { ControllerDependencies } from '../dependencies.js';
import type { DeleteParams } from '../runtime/client.js';
import { virtualMachineInstances, virtualMachinePools, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { isControlledBy } from '../runtime/writes.js';
import { Harness, guest } from '../testing/harness.js';
import { UnreliableWay } from '../testing/unreliable-client.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createPoolController } from './pool-controller.js';
import { revisions } from './testing/pool.js';
import { isAvailable } from './rollout.js';

const command = fc.oneof(
  fc.record({ do: fc.constant('scale' as const), count: fc.nat(4) }),
  fc.record({ do: fc.constant('update' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constantFrom('delete', 'vanish', 'relabel', 'disown'), index: fc.nat(4) }),
  fc.record({ do: fc.constantFrom('refuse', 'lose', 'crash'), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constantFrom('holdMachines', 'holdInstances', 'release', 'run', 'end', 'wait') }),
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

const key = { namespace: 'default', name: 'web' };
/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };
/** Draws of chance that differ, and are the same for each run. */
function draws(): () => number {
  let last = 0;
  return () => (last = (last + 0.37) % 1);
}

const controllers = [
  (deps: ControllerDependencies) => createPoolController({ ...deps, random: draws() }),
  createVirtualMachineController,
];

function templateOf(version: number): VirtualMachinePool['spec']['virtualMachineTemplate'] {
  const { domain, ...rest } = guest();
  const spec = { ...rest, domain: { ...domain, memory: { guest: `${version}Gi` } } };
  return { metadata: { ...unnamed, labels }, spec: { runStrategy: 'Always', template: { spec } } };
}

class World {
  readonly harness = new Harness();
  readonly way = new UnreliableWay(virtualMachines);
  /** What was done on grounds that were out of date. */
  readonly faults: string[] = [];

  async start(): Promise<void> {
    this.harness.through = this.way.through;
    await this.harness.client.create(virtualMachinePools, {
      apiVersion: 'pool.kubevirt.io/v1beta1',
      kind: 'VirtualMachinePool',
      metadata: key,
      spec: {
        replicas: 2,
        maxUnavailable: 1,
        selector: { matchLabels: labels },
        virtualMachineTemplate: templateOf(1),
      },
    });
    await this.harness.start(...controllers);
    this.harness.client.beforeWrite = ({ verb, resource, key: written, body }) => {
      if (verb === 'create' && resource === 'virtualmachines') this.#checkRoom(written);
      if (verb === 'delete' && resource === 'virtualmachineinstances')
        this.#checkService(written, body as DeleteParams);
    };
  }

  get pool(): VirtualMachinePool {
    const pool = this.harness.client.find(virtualMachinePools, key);
    assert.ok(pool);
    return pool;
  }

  get machines(): VirtualMachine[] {
    const { pool } = this;
    return this.harness.client.all(virtualMachines).filter((vm) => isControlledBy(vm, pool));
  }

  /** VMs that are being deleted count until they are gone. */
  #checkRoom(written: string): void {
    const exists = this.harness.client
      .all(virtualMachines)
      .some(({ metadata }) => `default/${metadata.name}` === written);
    if (!exists && this.machines.length >= (this.pool.spec.replicas ?? 1))
      this.faults.push(`${written} is one too many`);
  }

  /** An instance that serves is only given up while all others serve, but for those that were to go anyway. */
  #checkService(written: string, params: DeleteParams): void {
    const { harness, machines } = this;
    const machine = machines.find(({ metadata }) => `default/${metadata.name}` === written);
    if (machine === undefined || machine.metadata.deletionTimestamp !== undefined) return;
    const vmi = harness.vmi(machine.metadata.name);
    if (!isAvailable(vmi)) return;
    // It will be refused, as it was decided on an older state.
    const { resourceVersion = vmi?.metadata.resourceVersion } = params.preconditions ?? {};
    if (resourceVersion !== vmi?.metadata.resourceVersion) return;
    const down = machines.filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined && !isAvailable(harness.vmi(metadata.name)),
    );
    if (down.length > 0) this.faults.push(`${written} ends while ${down.length} are down`);
  }

  async apply(step: Command): Promise<void> {
    const { harness, way } = this;
    if ('index' in step) {
      const staying = this.machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const vm = staying[step.index % Math.max(1, staying.length)];
      if (vm !== undefined) await this.#strike(step.do, vm);
    } else if ('count' in step) {
      if (step.do === 'scale') await this.#respec({ replicas: step.count });
      else if (step.do === 'update') await this.#respec({ virtualMachineTemplate: templateOf(step.count) });
      else if (step.do === 'refuse') way.refusals = step.count;
      else if (step.do === 'lose') way.losses = step.count;
      else await this.#crash(step.count);
    } else if (step.do === 'holdMachines') way.hold(virtualMachines);
    else if (step.do === 'holdInstances') way.hold(virtualMachineInstances);
    else if (step.do === 'release') way.release();
    else if (step.do === 'run') await this.#run();
    else if (step.do === 'end') this.#end();
    else await harness.clock.advance(5000);
    await settle();
  }

  #respec(change: Partial<VirtualMachinePool['spec']>): Promise<void> {
    return this.harness.change(virtualMachinePools, 'web', (each) => ({
      ...each,
      metadata: { ...each.metadata, generation: (each.metadata.generation ?? 0) + 1 },
      spec: { ...each.spec, ...change },
    }));
  }

  async #strike(what: string, { metadata }: VirtualMachine): Promise<void> {
    const { client } = this.harness;
    if (what === 'delete') return client.delete(virtualMachines, metadata);
    if (what === 'vanish') {
      client.remove(virtualMachines, metadata);
      return;
    }
    const change = what === 'relabel' ? { labels: { app: 'other' } } : { ownerReferences: [] };
    return this.harness.change(virtualMachines, metadata.name, (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, ...change },
    }));
  }

  /** Guests that have been started get ready. */
  async #run(): Promise<void> {
    for (const { metadata } of this.harness.client.all(virtualMachineInstances))
      if (metadata.deletionTimestamp === undefined && !isAvailable(this.harness.vmi(metadata.name)))
        await this.harness.startGuest(metadata.name);
  }

  /** Guests that were told to end have ended. The garbage collector takes away those whose VM is gone. */
  #end(): void {
    const { client } = this.harness;
    const uids = new Set(client.all(virtualMachines).map(({ metadata }) => metadata.uid));
    for (const { metadata } of client.all(virtualMachineInstances)) {
      const orphaned = metadata.ownerReferences?.some(({ uid }) => !uids.has(uid)) === true;
      if (metadata.deletionTimestamp !== undefined || orphaned)
        client.remove(virtualMachineInstances, metadata);
    }
  }

  /** The process dies after so many more writes, or at once when nothing makes it write. */
  async #crash(writes: number): Promise<void> {
    this.harness.killAfter(writes);
    await this.harness.clock.advance(1000);
    this.harness.killAfter(0);
    this.way.release();
    await this.harness.start(...controllers);
  }

  /** Nothing more goes wrong, and guests start and end as they are told. */
  async calm(): Promise<void> {
    const { harness, way } = this;
    way.refusals = 0;
    way.losses = 0;
    way.release();
    await harness.clock.advance(700_000);
    for (let round = 0; round < 8; round++) {
      this.#end();
      await settle();
      await this.#run();
      await harness.clock.advance(1000);
    }
  }
}

test('ends as the spec says, never makes one too many, never lets too many be down', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 14 }), async (commands) => {
      const world = new World();
      await world.start();
      try {
        for (const step of commands) await world.apply(step);
        await world.calm();
        const { spec, status } = world.pool;
        const { machines, harness } = world;
        assert.deepEqual(world.faults, []);
        assert.equal(machines.length, spec.replicas);
        const wanted = spec.virtualMachineTemplate.spec?.template.spec?.domain.memory?.guest;
        for (const { metadata } of machines) {
          const vmi = harness.vmi(metadata.name);
          assert.ok(isAvailable(vmi));
          assert.equal(vmi?.spec.domain.memory?.guest, wanted);
        }
        assert.equal(status?.replicas, spec.replicas);
        assert.equal(status?.readyReplicas, spec.replicas);
        assert.equal(status?.conditions, undefined);
        assert.equal(revisions(harness).length, 1);
      } finally {
        world.way.release();
        await world.harness.stop();
      }
    }),
    {
      numRuns: 100,
      // Instances that get ready unseen are taken for such as serve nobody; the server knows better.
      examples: [
        [[{ do: 'holdInstances' }, { do: 'run' }, { do: 'update', count: 2 }]],
        [[{ do: 'holdInstances' }, { do: 'relabel', index: 0 }, { do: 'update', count: 2 }, { do: 'run' }]],
      ],
    },
  );
});
