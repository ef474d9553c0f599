/** A pool and its VMs, for the tests of the pool controller. */
import type { TestContext } from 'node:test';
import type { VirtualMachinePool } from '../../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import {
  controllerRevisions,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../../runtime/kinds.js';
import { settle } from '../../runtime/testing/fake-clock.js';
import { Harness, guest } from '../../testing/harness.js';
import { createVirtualMachineController } from '../../virtual-machine/virtual-machine-controller.js';
import { createPoolController } from '../pool-controller.js';

export type Spec = VirtualMachinePool['spec'];

/** Templates have no identity, though their type knows the fields. */
export const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };
export const revisionLabel = 'kubevirt.io/vm-pool-revision-name';

export function template(change: Partial<VirtualMachine['spec']> = {}): Spec['virtualMachineTemplate'] {
  return {
    metadata: { ...unnamed, labels },
    spec: { runStrategy: 'Always', template: { spec: guest() }, ...change },
  };
}

export function withMemory(size: string): Spec['virtualMachineTemplate'] {
  const spec = guest();
  return template({ template: { spec: { ...spec, domain: { ...spec.domain, memory: { guest: size } } } } });
}

export async function create(harness: Harness, spec: Partial<Spec> = {}): Promise<void> {
  await harness.client.create(virtualMachinePools, {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      virtualMachineTemplate: template(),
      ...spec,
    },
  });
  await settle();
}

export async function started(t: TestContext, spec: Partial<Spec> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createPoolController, createVirtualMachineController);
  await create(harness, spec);
  await settle();
  return harness;
}

export const pool = (harness: Harness): VirtualMachinePool | undefined =>
  harness.client.find(virtualMachinePools, { namespace: 'default', name: 'web' });

export const names = (harness: Harness): string[] =>
  harness.client
    .all(virtualMachines)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);

export const revisions = (harness: Harness): string[] =>
  harness.client
    .all(controllerRevisions)
    .filter(({ metadata }) => metadata.labels?.[revisionLabel] !== undefined)
    .map(({ metadata }) => metadata.name);

export const memoryOf = (harness: Harness, name: string): unknown =>
  harness.vmi(name)?.spec.domain.memory?.guest;

export async function respec(harness: Harness, change: Partial<Spec>): Promise<void> {
  await harness.change(virtualMachinePools, 'web', (each) => ({
    ...each,
    metadata: { ...each.metadata, generation: (each.metadata.generation ?? 0) + 1 },
    spec: { ...each.spec, ...change },
  }));
  await settle();
}

export async function runAll(harness: Harness): Promise<void> {
  for (const { metadata } of harness.client.all(virtualMachineInstances))
    if (metadata.deletionTimestamp === undefined) await harness.startGuest(metadata.name);
  await settle();
}

/** Those that are to end have ended. */
export async function endAll(harness: Harness): Promise<void> {
  for (const { metadata } of harness.client.all(virtualMachineInstances))
    if (metadata.deletionTimestamp !== undefined) harness.client.remove(virtualMachineInstances, metadata);
  await settle();
  await settle();
}
