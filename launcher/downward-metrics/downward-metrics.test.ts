import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { ManualClock } from '../../test/fake-qemu/manual-clock.js';
import { readUntil, smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { metricsDisk } from './disk.js';
import { collectMetrics, metricsXml } from './report.js';
import { DownwardMetrics } from './service.js';

const proc: Readonly<Record<string, string>> = {
  meminfo: 'MemTotal: 4096 kB\nMemFree: 1024 kB\nMemAvailable: 2048 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n',
  vmstat: 'pgpgin 2048\npgpgout 4096\n',
  stat: 'cpu  100 20 30 1000\n',
  '7/stat': '7 (qemu ) (x) S 1 7 7 0 -1 4194624 1 2 3 4 250 50 0 0 20\n',
};

test('the metrics are those of the node and of the guest', () => {
  const metrics = collectMetrics({
    vmi: smallVmi('u'),
    qemuPid: 7,
    now: 1_000_000,
    readProc: (path) => proc[path] ?? '',
  });
  const value = (context: string, name: string) =>
    metrics.find((metric) => metric.context === context && metric.name === name)?.value;
  assert.equal(value('host', 'TotalCPUTime'), '1.500000');
  assert.equal(value('vm', 'TotalCPUTime'), '3.000000');
  assert.equal(value('host', 'FreePhysicalMemory'), '1');
  assert.equal(value('host', 'UsedVirtualMemory'), '2');
  assert.equal(value('host', 'PagedOutMemory'), '4');
  assert.equal(value('host', 'Time'), '1000');
  assert.equal(value('vm', 'PhysicalMemoryAllocatedToVirtualSystem'), '64');
});

test('a metric is XML whatever its value is', () => {
  const xml = metricsXml([{ name: 'HostName', context: 'host', type: 'string', value: 'a<b&c' }]);
  assert.match(xml, /<metric type="string" context="host">\s+<name>HostName<\/name>\s+<value>a&lt;b&amp;c</);
});

test('a metrics disk says how long its metrics are, and their sum', () => {
  const disk = metricsDisk('ab', false);
  assert.deepEqual([disk.readUInt32BE(4), disk.readUInt32BE(8), disk.readUInt32BE(12)], [0, 97 + 98, 2]);
  assert.equal(disk.toString('utf8', 16, 18), 'ab');
});

test('the channel answers, the disk is kept up to date, and both end', async () => {
  const podDir = mkdtempSync(join(tmpdir(), 'nativirt-metrics-'));
  process.chdir(podDir);
  mkdirSync(podLayout.qemu);
  mkdirSync(podLayout.disks);
  writeFileSync('disks/metrics.metrics', metricsDisk('', false));
  const vmi = smallVmi('u', {
    domain: { memory: { guest: '64Mi' }, devices: { downwardMetrics: {} } },
    volumes: [{ name: 'metrics', downwardMetrics: {} }],
  });
  const warnings: string[] = [];
  const logger = { info: () => {}, warn: (message: string) => void warnings.push(message), error: () => {} };
  const service = new DownwardMetrics({ vmi, clock: new ManualClock(), logger });
  try {
    await service.listen();
    await service.follow(process.pid);
    const socket = connect(podLayout.downwardMetricsSocket);
    socket.write('GET /metrics/XML\r\n\r\n');
    assert.match(await readUntil(socket, '</metrics>\n\n'), /^<metrics>/);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    service.stop();
    await closed;
    assert.match(readFileSync('disks/metrics.metrics', 'latin1'), /<name>TotalCPUTime<\/name>/);
    assert.deepEqual(warnings, []);
  } finally {
    service.stop();
    process.chdir('/');
    rmSync(podDir, { recursive: true, force: true });
  }
});
