/** Many VMs come and go: what they took of the server is given back. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { Cluster, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

const count = 50;
const rounds = 3;
/** After which the server ends a connection that nobody uses. */
const idleConnectionSeconds = 120;

interface Figures {
  readonly descriptors: number;
  readonly residentMegabytes: number;
}

function figures(pid: number): Figures {
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return {
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    residentMegabytes: Number(resident?.[1] ?? 0) / 1024,
  };
}

test(`${count} VMs created and deleted ${rounds} times over leave nothing behind`, async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  const names = Array.from({ length: count }, (_, index) => `many-${index}`);
  const items = names.map((name) =>
    virtualMachine({ name, graceSeconds: 0, memory: '16Mi', cpuRequest: '5m' }),
  );
  const documents = items.map((item) => JSON.stringify(item)).join('\n---\n');
  const after: Figures[] = [];
  for (let round = 0; round < rounds; round++) {
    await cluster.get(['create', '-f', '-'], documents);
    await eventually(
      `all run (round ${round})`,
      async () => {
        const phases = await cluster.get([
          'get',
          'vmi',
          '-o',
          'jsonpath={range .items[*]}{.status.phase}{"\\n"}{end}',
        ]);
        return phases.split('\n').filter((phase) => phase === 'Running').length === count;
      },
      240,
    );
    await cluster.get(['delete', 'vm', '--all', '--wait=false']);
    await eventually(
      `all are gone (round ${round})`,
      async () => (await cluster.get(['get', 'vm,vmi,pod', '-o', 'name'])) === '',
      240,
    );
    await eventually(
      'their processes are gone',
      () => cluster.processes('qemu').length + cluster.processes('launcher').length === 0,
      60,
    );
    after.push(figures(cluster.pid));
  }
  t.diagnostic(JSON.stringify(after));
  // The first round fills caches and compiles code. What comes after must not add up.
  const [first, warm] = after;
  const last = after.at(-1);
  assert.ok(first !== undefined && warm !== undefined && last !== undefined);
  await eventually(
    `as many descriptors as after the first round, when idle connections have ended: ${JSON.stringify(after)}`,
    () => figures(cluster.pid).descriptors <= first.descriptors + 10,
    idleConnectionSeconds + 10,
  );
  // Resident memory moves by a quarter with when the collector last ran.
  const before = Math.max(first.residentMegabytes, warm.residentMegabytes);
  assert.ok(last.residentMegabytes <= before * 1.4, `memory: ${JSON.stringify(after)}`);
});
