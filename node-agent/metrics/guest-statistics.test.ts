import assert from 'node:assert/strict';
import test from 'node:test';
import { Registry } from 'prom-client';
import { inRounds, registerGuestStatistics, type MeasuredMachine } from './guest-statistics.js';

const packets = { bytes: 10, packets: 2, errors: 0, dropped: 0 };
const machine: MeasuredMachine = {
  node: 'node-1',
  namespace: 'default',
  name: 'vm',
  statistics: {
    cpu: { user: 2, system: 1 },
    vcpus: [{ id: 0, used: 1.5, delayed: 0.25, blocked: 0 }],
    memory: { domain: 64, resident: 32, guest: { free: 16 } },
    disks: [
      {
        name: 'root',
        read: { operations: 3, bytes: 300, time: 0.5 },
        write: { operations: 0, bytes: 0, time: 0 },
        flush: { operations: 1, time: 0.1 },
      },
    ],
    interfaces: [{ name: 'default', receive: packets, transmit: { ...packets, bytes: 20 } }],
    fileSystems: [{ disk: 'vda1', mountPoint: '/', type: 'ext4', capacity: 4000, used: 1000 }],
  },
};
const where = 'node="node-1",namespace="default",name="vm"';

test('each machine is a row of each metric that it has, and of none that it has not', async () => {
  const registry = new Registry();
  registerGuestStatistics(registry, () => Promise.resolve([machine]));
  const text = await registry.metrics();
  for (const line of [
    `kubevirt_vmi_cpu_usage_seconds_total{${where}} 3`,
    `kubevirt_vmi_vcpu_seconds_total{${where},id="0",state="running"} 1.5`,
    `kubevirt_vmi_memory_unused_bytes{${where}} 16`,
    `kubevirt_vmi_storage_read_traffic_bytes_total{${where},drive="root"} 300`,
    `kubevirt_vmi_network_transmit_bytes_total{${where},interface="default"} 20`,
    `kubevirt_vmi_filesystem_used_bytes{${where},disk_name="vda1",mount_point="/",file_system_type="ext4"} 1000`,
  ])
    assert.ok(text.includes(`${line}\n`), `${line}\n\n${text}`);
  assert.doesNotMatch(text, /^kubevirt_vmi_memory_usable_bytes\{/m);
  assert.equal(await registry.metrics(), text, 'a second look finds the same');
});

test('a machine that has gone leaves no rows', async () => {
  const registry = new Registry();
  let machines = [machine];
  registerGuestStatistics(registry, () => Promise.resolve(machines));
  assert.match(await registry.metrics(), /name="vm"/);
  machines = [];
  assert.doesNotMatch(await registry.metrics(), /name="vm"/);
});

test('one scrape asks once, the next asks anew', async () => {
  const registry = new Registry();
  let asked = 0;
  let now = 0;
  const measure = () => Promise.resolve(asked++ === 0 ? [machine] : []);
  registerGuestStatistics(
    registry,
    inRounds(measure, () => now),
  );
  await registry.metrics();
  assert.equal(asked, 1);
  now = 1000;
  await registry.metrics();
  assert.equal(asked, 2);
});
