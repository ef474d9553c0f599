import assert from 'node:assert/strict';
import test from 'node:test';
import { Registry } from 'prom-client';
import { virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { registerMachineMetrics } from './machine-metrics.js';

const domain = { devices: {} };
const key = { namespace: 'n', name: 'a' };

test('machines and instances are counted as they are when somebody asks', async () => {
  const registry = new Registry();
  const harness = new Harness();
  await harness.start(({ informers }) => {
    registerMachineMetrics(registry, {
      machines: informers.get(virtualMachines),
      instances: informers.get(virtualMachineInstances),
    });
    return { run: () => Promise.resolve() };
  });
  await harness.client.create(virtualMachines, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'a', namespace: 'n' },
    spec: { template: { spec: { domain } } },
  });
  harness.client.put(virtualMachines, key, (machine) => ({
    ...machine,
    status: {
      printableStatus: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }],
    },
  }));
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'a', namespace: 'n', annotations: { 'kubevirt.io/instancetype-name': 'small' } },
    spec: { domain },
  });
  harness.client.put(virtualMachineInstances, key, (instance) => ({
    ...instance,
    status: { nodeName: 'one', phase: 'Scheduled' },
  }));
  await settle();
  const { creationTimestamp } = (await harness.client.get(virtualMachineInstances, key)).metadata;
  const after = (seconds: number): string =>
    new Date(Date.parse(creationTimestamp) + seconds * 1000).toISOString();
  harness.client.put(virtualMachineInstances, key, (instance) => ({
    ...instance,
    status: {
      nodeName: 'one',
      phase: 'Running',
      guestOSInfo: { name: 'Debian GNU/Linux', versionId: '12' },
      phaseTransitionTimestamps: [
        { phase: 'Scheduled', phaseTransitionTimestamp: after(1) },
        { phase: 'Running', phaseTransitionTimestamp: after(4) },
      ],
    },
  }));
  await settle();
  const text = await registry.metrics();
  const lines = new Set(text.split('\n'));
  for (const expected of [
    'kubevirt_vmi_phase_count{node="one",phase="running"} 1',
    'kubevirt_number_of_vms{namespace="n"} 1',
    `kubevirt_vm_running_status_last_transition_timestamp_seconds{name="a",namespace="n"} ${Date.parse('2026-01-01T00:00:10Z') / 1000}`,
    'kubevirt_vmi_phase_transition_time_from_creation_seconds_sum{phase="Running"} 4',
    'kubevirt_vmi_phase_transition_time_seconds_sum{phase="Running",last_phase="Scheduled"} 3',
    'kubevirt_vmi_info{node="one",namespace="n",name="a",phase="running",os="<none>",workload="<none>",flavor="<none>",instance_type="small",preference="<none>",guest_os_kernel_release="",guest_os_machine="",guest_os_name="Debian GNU/Linux",guest_os_version_id="12"} 1',
  ])
    assert.ok(lines.has(expected), `${expected}\nis not in\n${text}`);
  harness.client.remove(virtualMachineInstances, key);
  await settle();
  assert.doesNotMatch(await registry.metrics(), /kubevirt_vmi_info\{/);
  await harness.stop();
});
