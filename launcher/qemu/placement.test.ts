import assert from 'node:assert/strict';
import test from 'node:test';
import type { CPU, DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { parseCpuList, type Host } from './host.js';
import { ioThreads } from './io-threads.js';
import { numaCells } from './numa.js';
import { pinThreads } from './pin.js';
import { cpuPlacement } from './placement.js';

const host = (...cpus: number[]): Host => ({ cpus, numaNodes: [], environment: {} });
const dedicated = (cpu: CPU, domain: Partial<DomainSpec> = {}) =>
  smallVmi('u', { domain: { devices: {}, cpu: { dedicatedCpuPlacement: true, ...cpu }, ...domain } });

test('a CPU list of the kernel is read', () => {
  assert.deepEqual(parseCpuList('0-2,8\n'), [0, 1, 2, 8]);
  assert.deepEqual(parseCpuList('\n'), []);
});

test('virtual CPUs take the first CPUs of the pod, the emulator what is left', () => {
  const vmi = dedicated({ cores: 2, isolateEmulatorThread: true });
  const placement = cpuPlacement({ vmi, host: host(4, 5, 6, 7) });
  assert.deepEqual(
    [placement?.vcpus, placement?.emulator],
    [
      [4, 5],
      [6, 7],
    ],
  );
  assert.throws(() => cpuPlacement({ vmi, host: host(4, 5) }), { message: /needs 3 CPUs .* run on 2/ });
  assert.equal(cpuPlacement({ vmi: smallVmi('u'), host: host(0) }), undefined);
});

test('a mask names the virtual CPUs that are real-time', () => {
  const realtime = (mask?: string) =>
    cpuPlacement({
      vmi: dedicated({ cores: 4, realtime: mask === undefined ? {} : { mask } }),
      host: host(0, 1, 2, 3),
    })?.realtime;
  assert.deepEqual(realtime(), [0, 1, 2, 3]);
  assert.deepEqual(realtime('1-3,^2'), [1, 3]);
  assert.throws(() => realtime('all'), { message: /not a list of virtual CPUs/ });
});

test('memory is shared out among the NUMA nodes in whole pages', () => {
  const vmi = dedicated({ cores: 3 });
  const nodes = [
    { id: 0, cpus: [0, 1] },
    { id: 3, cpus: [2, 3] },
  ];
  const context = {
    vmi,
    settings: defaultMachineSettings,
    host: { cpus: [0, 1, 2], numaNodes: nodes, environment: {} },
    accelerator: 'tcg',
    images: new Map<never, never>(),
    efi: undefined,
    kernel: undefined,
    taps: new Map<never, never>(),
    now: 0,
  } as const;
  assert.deepEqual(numaCells(context, 5 << 20, 1 << 20), [
    { id: 0, cpus: [0, 1], size: 3 << 20, hostNode: 0 },
    { id: 1, cpus: [2], size: 2 << 20, hostNode: 3 },
  ]);
  assert.throws(() => numaCells(context, 5 << 20, 2 << 20), { message: /no whole number of pages/ });
});

test('threads are moved to their CPUs, the emulator first', async () => {
  const vmi = dedicated(
    { cores: 2, isolateEmulatorThread: true, realtime: { mask: '1' } },
    {
      ioThreadsPolicy: 'shared',
      devices: { disks: [{ name: 'd', disk: { bus: 'virtio' } }] },
    },
  );
  const placement = cpuPlacement({ vmi, host: host(2, 3, 9) });
  assert.ok(placement);
  const answers: Readonly<Record<string, unknown>> = {
    'query-iothreads': [{ id: 'iothread1', 'thread-id': 71 }],
    'query-cpus-fast': [
      { 'cpu-index': 0, 'thread-id': 72 },
      { 'cpu-index': 1, 'thread-id': 73 },
    ],
  };
  const ran: string[] = [];
  await pinThreads(70, { execute: (name) => Promise.resolve(answers[name]) }, placement, (program, argv) => {
    ran.push([program, ...argv].join(' '));
    return Promise.resolve();
  });
  assert.deepEqual(ran, [
    'taskset -a -c -p 9 70',
    'taskset -c -p 9 71',
    'taskset -c -p 2 72',
    'taskset -c -p 3 73',
    'chrt --fifo -p 1 73',
  ]);
});

test('a pool of I/O threads needs a size, and a policy its name', () => {
  const policy = (domain: Partial<DomainSpec>) => () =>
    ioThreads(smallVmi('u', { domain: { devices: {}, ...domain } }));
  assert.throws(policy({ ioThreadsPolicy: 'supplementalPool' }), { message: /at least one thread/ });
  assert.throws(policy({ ioThreadsPolicy: 'many' }), { message: /not one of auto, shared/ });
});
