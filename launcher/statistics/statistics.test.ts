import assert from 'node:assert/strict';
import test from 'node:test';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { GuestAgentError } from '../guest-agent.js';
import { QmpError } from '../qmp/errors.js';
import { collectStatistics } from './collect.js';
import { tapTraffic } from './proc.js';
import { diskStatistics, guestMemoryStatistics } from './qemu.js';

const stat = (name: string, user: number, system: number, blocked = 0) =>
  `7 (${name}) S 1 7 7 0 -1 4194624 1 2 3 4 ${user} ${system} 0 0 20 ${'0 '.repeat(23)}${blocked} 0 0\n`;
const proc: Readonly<Record<string, string>> = {
  '7/stat': stat('qemu ) (x', 250, 50),
  '7/status': 'Name:\tqemu\nVmRSS:\t    2048 kB\n',
  '7/task/8/stat': stat('CPU 0/TCG', 100, 20, 5),
  '7/task/8/schedstat': '1500000000 250000000 42\n',
  '7/net/dev': `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0
  tap0:  100   3    1    2    0     0          0         0  200   5    0    7    0     0       0          0
`,
};
const readProc = (path: string) => {
  const content = proc[path];
  return content === undefined ? Promise.reject(new Error(path)) : Promise.resolve(content);
};

test('what QEMU, Linux and the guest count becomes one account', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    'query-cpus-fast': [{ 'cpu-index': 0, 'thread-id': 8 }],
    'query-balloon': { actual: 67108864 },
    'qom-get': { 'last-update': 1700000000, stats: { 'stat-free-memory': 1024, 'stat-disk-caches': -1 } },
    'query-blockstats': [
      { qdev: '/machine/peripheral/disk-root/virtio-backend', stats: { rd_operations: 2, rd_bytes: 1024 } },
    ],
  };
  const vmi = smallVmi('u', {
    domain: { memory: { guest: '64Mi' }, devices: { disks: [{ name: 'root', disk: {} }] } },
  });
  const statistics = await collectStatistics({
    qemuPid: 7,
    settings: defaultMachineSettings,
    vmi,
    qmp: { execute: (command) => Promise.resolve(answers[command]) },
    agent: {
      execute: () =>
        Promise.resolve([
          { name: 'vda1', mountpoint: '/', type: 'ext4', 'total-bytes': 4000, 'used-bytes': 1000 },
          { name: 'vdb', mountpoint: '/old-agent', type: 'ext4' },
        ]),
    },
    taps: new Map([['tap0', 'default']]),
    readProc,
  });
  assert.deepEqual(statistics, {
    cpu: { user: 2.5, system: 0.5 },
    vcpus: [{ id: 0, used: 1.2, delayed: 0.25, blocked: 0.05 }],
    memory: { domain: 64 << 20, resident: 2 << 20, balloon: 64 << 20, guest: { free: 1024 } },
    disks: [
      {
        name: 'root',
        read: { operations: 2, bytes: 1024, time: 0 },
        write: { operations: 0, bytes: 0, time: 0 },
        flush: { operations: 0, time: 0 },
      },
    ],
    interfaces: [
      {
        name: 'default',
        receive: { bytes: 200, packets: 5, errors: 0, dropped: 7 },
        transmit: { bytes: 100, packets: 3, errors: 1, dropped: 2 },
      },
    ],
    fileSystems: [{ disk: 'vda1', mountPoint: '/', type: 'ext4', capacity: 4000, used: 1000 }],
  });
});

test('a machine without balloon, and a guest without agent, are counted all the same', async () => {
  const refuse = (command: string) =>
    Promise.reject(new QmpError('refused', command, 'no such device', 'DeviceNotActive'));
  const statistics = await collectStatistics({
    qemuPid: 7,
    settings: defaultMachineSettings,
    vmi: smallVmi('u'),
    qmp: { execute: (command) => (command === 'query-cpus-fast' ? Promise.resolve([]) : refuse(command)) },
    agent: { execute: (command) => Promise.reject(new GuestAgentError('timeout', command, '2 s')) },
    taps: new Map(),
    readProc,
  });
  assert.deepEqual(statistics.memory, { domain: 64 << 20, resident: 2 << 20 });
  assert.deepEqual([statistics.fileSystems, statistics.disks, statistics.interfaces], [[], [], []]);
});

test('a QEMU that is gone is no machine without numbers', async () => {
  const closed = (command: string) => Promise.reject(new QmpError('closed', command, 'QEMU closed it'));
  await assert.rejects(
    collectStatistics({
      qemuPid: 7,
      settings: defaultMachineSettings,
      vmi: smallVmi('u'),
      qmp: { execute: closed },
      agent: undefined,
      taps: new Map(),
      readProc,
    }),
    { kind: 'closed' },
  );
});

test('what a guest told before statistics were wanted of it is not among its numbers', async () => {
  const asked: string[] = [];
  const { memory } = await collectStatistics({
    qemuPid: 7,
    settings: { ...defaultMachineSettings, balloonStatsPeriod: 0 },
    vmi: smallVmi('u'),
    qmp: {
      execute: (command) => {
        asked.push(command);
        return Promise.resolve(command === 'query-balloon' ? { actual: 64 << 20 } : []);
      },
    },
    agent: undefined,
    taps: new Map(),
    readProc,
  });
  assert.deepEqual(memory, { domain: 64 << 20, resident: 2 << 20, balloon: 64 << 20 });
  assert.ok(!asked.includes('qom-get'));
});

test('a guest that has told nothing yet has no memory statistics', () => {
  assert.equal(guestMemoryStatistics({ 'last-update': 0, stats: { 'stat-free-memory': -1 } }), undefined);
});

test('other block devices than the disks of the spec are left out', () => {
  assert.deepEqual(diskStatistics([{ qdev: '/machine/peripheral/pflash', stats: {} }], ['root']), []);
});

test('other devices of the namespace are left out', () => {
  assert.deepEqual(tapTraffic(proc['7/net/dev'] ?? '', new Map([['tap9', 'other']])), []);
});
