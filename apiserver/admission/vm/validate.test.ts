import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../../../openapi/meta.js';
import { defaultConfiguration } from '../configuration/defaults.js';
import type { AdmissionContext, AdmissionRequest } from '../interface.js';
import { virtualMachineValidation } from './validate.js';

const plugin = virtualMachineValidation(() => false);
const context: AdmissionContext = {
  configuration: defaultConfiguration,
  lookups: { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) },
  warn: () => undefined,
};

/** As a client may send it: the cast lets a test leave out or misspell what the types require. */
const machine = (spec: Record<string, unknown>): KubernetesObject =>
  ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'a' },
    spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
  }) as unknown as KubernetesObject;

async function fields(
  object: KubernetesObject,
  oldObject?: KubernetesObject,
): Promise<(string | undefined)[]> {
  const request: AdmissionRequest = {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    group: 'kubevirt.io',
    version: 'v1',
    resource: 'virtualmachines',
    kind: 'VirtualMachine',
    subresource: undefined,
    namespace: 'default',
    name: 'a',
    object,
    oldObject,
    user: { name: 'u', groups: [], extra: {} },
    dryRun: false,
  };
  return ((await plugin.validate?.(request, context)) ?? []).map((cause) => cause.field);
}

test('a VM says how it runs, in one way and in a known word', async () => {
  assert.deepEqual(await fields(machine({ runStrategy: 'Always' })), []);
  assert.deepEqual(await fields(machine({ running: false })), []);
  assert.deepEqual(await fields(machine({})), ['spec.running']);
  assert.deepEqual(await fields(machine({ running: true, runStrategy: 'Always' })), ['spec.running']);
  assert.deepEqual(await fields(machine({ runStrategy: 'Alwys' })), ['spec.runStrategy']);
});

test('faults of the template have their place in the VM, and wait while the spec stays as it was', async () => {
  const disks = [{ name: 'lost', disk: { bus: 'virtio' } }];
  const faulty = machine({ runStrategy: 'Always', template: { spec: { domain: { devices: { disks } } } } });
  assert.deepEqual(await fields(faulty), ['spec.template.spec.domain.devices.disks[0].name']);
  assert.deepEqual(await fields(faulty, faulty), []);
});
