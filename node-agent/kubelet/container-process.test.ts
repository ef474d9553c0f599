import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { containerProcess } from './container-process.js';

const id = 'c0ffee'.repeat(10);

function procWith(t: TestContext, cgroups: Readonly<Record<number, string>>): string {
  const proc = mkdtempSync(join(tmpdir(), 'nativirt-proc-'));
  t.after(() => rmSync(proc, { recursive: true, force: true }));
  for (const [pid, text] of Object.entries(cgroups)) {
    mkdirSync(join(proc, pid));
    writeFileSync(join(proc, pid, 'cgroup'), text);
  }
  mkdirSync(join(proc, '999'));
  mkdirSync(join(proc, 'self'));
  return proc;
}

test('the oldest process of the container, with every kind of cgroup', async (t) => {
  const kinds = {
    v1: `12:pids:/kubepods/burstable/pod1f/${id}\n1:name=systemd:/kubepods/burstable/pod1f/${id}\n`,
    'v1 with systemd': `3:cpu,cpuacct:/kubepods.slice/kubepods-pod1f.slice/cri-containerd-${id}.scope\n`,
    v2: `0::/kubepods.slice/kubepods-pod1f.slice/cri-containerd-${id}.scope\n`,
    'v2 from a cgroup namespace': `0::/../../pod1f/${id}\n`,
    'v2, a cgroup below': `0::/../kubepods/pod1f/${id}/guest\n`,
  };
  for (const [kind, cgroup] of Object.entries(kinds)) {
    const proc = procWith(t, {
      1: '0::/init.scope\n',
      1200: cgroup,
      345: cgroup,
      20: '0::/kubepods/pod1f/other\n',
    });
    assert.equal(await containerProcess(`containerd://${id}`, proc), 345, kind);
  }
});

test('a container that is gone, and what is no container id', async (t) => {
  const proc = procWith(t, { 5: `0::/kubepods/pod1f/x${id}\n` });
  assert.equal(await containerProcess(`containerd://${id}`, proc), undefined);
  await assert.rejects(containerProcess('containerd://../..', proc), /is not a container id/);
  await assert.rejects(containerProcess('', proc), /is not a container id/);
});
