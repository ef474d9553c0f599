import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

const key = (name: string) => ({ namespace: 'default', name });

async function create(harness: Harness, name: string, autoattachVSOCK = true): Promise<void> {
  const spec = guest();
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...key(name), finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    spec: {
      ...spec,
      domain: { ...spec.domain, devices: { ...spec.domain.devices, autoattachVSOCK } },
    },
  });
}

const ids = (harness: Harness): (number | undefined)[] =>
  harness.client.all(virtualMachineInstances).map(({ status }) => status?.VSOCKCID);

const start = (harness: Harness, draws: () => number): Promise<void> =>
  harness.start((deps) =>
    createVirtualMachineInstanceController({ ...deps, random: draws }, { launcherImage: 'launcher' }),
  );

test('only a VMI with a VSOCK device has an id, and keeps it', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await start(harness, () => 0.5);
  await create(harness, 'vm');
  await create(harness, 'plain', false);
  await settle();
  const id = harness.vmi('vm')?.status?.VSOCKCID;
  assert.ok(id !== undefined && id >= 3 && id < 2 ** 32 - 1);
  assert.equal(harness.vmi('plain')?.status?.VSOCKCID, undefined);
  await harness.clock.advance(60_000);
  assert.equal(harness.vmi('vm')?.status?.VSOCKCID, id);
});

test('ids never collide, however few are drawn, whoever goes and whenever the controller starts anew', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant('create' as const) },
    fc.constantFrom('delete' as const, 'restart' as const),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(fc.constantFrom(0, 0.5, 0.999_999_999_9), { minLength: 1 }),
      async (steps, drawn) => {
        let next = 0;
        const draws = (): number => drawn[next++ % drawn.length] ?? 0;
        const harness = new Harness();
        await start(harness, draws);
        let made = 0;
        for (const each of steps) {
          if (each === 'create') await create(harness, `vm${made++}`);
          else if (each === 'restart') {
            await harness.stop();
            await start(harness, draws);
          } else {
            const [oldest] = harness.client.all(virtualMachineInstances);
            if (oldest !== undefined) harness.client.remove(virtualMachineInstances, oldest.metadata);
          }
        }
        await settle();
        const given = ids(harness);
        assert.equal(new Set(given).size, given.length);
        assert.ok(!given.includes(undefined));
        await harness.stop();
      },
    ),
    { numRuns: 40 },
  );
});
