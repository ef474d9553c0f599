/** What goes wrong says so where the user looks. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import test from 'node:test';
import { Cluster, command, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

const nativirt = path.resolve(import.meta.dirname, '../../bin/nativirt');

const standalone = (...flags: string[]): ReturnType<typeof command> =>
  command(nativirt, ['standalone', '--log-level', 'silent', '--controllers=', ...flags], {
    timeoutMs: 60_000,
  });

test('standalone says in one line why it can not start', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers='] });
  const other = path.join(cluster.dataDirectory, 'other');

  await t.test('a data directory that another server holds', async () => {
    const { code, stderr } = await standalone('--data-dir', cluster.dataDirectory, '--secure-port', '0');
    assert.equal(code, 1);
    assert.match(stderr, /^nativirt standalone: .*store is in use by another process\n$/);
  });

  await t.test('a port that is taken', async () => {
    const server = net.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const { code, stderr } = await standalone('--data-dir', other, '--secure-port', String(port));
    server.close();
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^nativirt standalone: .*EADDRINUSE.*${port}\\n$`));
  });

  await t.test('data that is no store of ours', async () => {
    const foreign = path.join(cluster.dataDirectory, 'foreign');
    mkdirSync(path.join(foreign, 'store'), { recursive: true });
    writeFileSync(path.join(foreign, 'store', 'notes.txt'), 'mine');
    const { code, stderr } = await standalone('--data-dir', foreign, '--secure-port', '0');
    assert.equal(code, 1);
    assert.match(stderr, /^nativirt standalone: .*foreign\/store.*\n$/);
  });

  await t.test('a flag that does not exist, a value that can not be', async () => {
    assert.match((await standalone('--colour', 'red')).stderr, /Unknown option '--colour'/);
    assert.match(
      (await standalone('--secure-port', '70000')).stderr,
      /--secure-port 70000: must be a whole number/,
    );
  });
});

test('a manifest that is wrong is refused with the place and what would be right', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers='] });
  const refused = async (manifest: unknown): Promise<string> => {
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    const { code, stderr } = await cluster.kubectl(['create', '-f', '-'], text);
    assert.notEqual(code, 0);
    return stderr;
  };
  const vm = virtualMachine({ name: 'bad' });
  assert.match(await refused({ ...vm, spec: { ...vm.spec, colour: 'red' } }), /unknown field "spec\.colour"/);
  assert.match(await refused({ ...vm, spec: { ...vm.spec, running: 'yes' } }), /spec\.running/);
  assert.match(await refused('{"apiVersion": "kubevirt.io/v1", "kind": '), /error/);
  const vmi = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'bad' },
    spec: {
      domain: { memory: { guest: '128Mi' }, devices: { disks: [{ name: 'lost', disk: { bus: 'virtoi' } }] } },
      volumes: [],
    },
  };
  const text = await refused(vmi);
  assert.match(text, /spec\.domain\.devices\.disks\[0\]\.name: no volume is named "lost"/);
  assert.match(text, /disks\[0\]\.disk\.bus: "virtoi" is none of .*did you mean "virtio"\?/);
});

test('what fails later shows in events and conditions', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--qemu', '/nonexistent/qemu-system-x86_64'] });

  await t.test('an image that does not exist', async () => {
    await cluster.create(virtualMachine({ name: 'no-image', image: 'oci:/nonexistent:disk' }));
    await cluster.wait('vm/no-image', 'jsonpath={.status.printableStatus}=ErrImagePull', 60);
    assert.match(await cluster.get(['get', 'events']), /Failed to pull: image "oci:\/nonexistent:disk"/);
  });

  await t.test('a claim that does not exist', async () => {
    const vm = virtualMachine({ name: 'no-claim' });
    const template = (vm.spec as { template: { spec: { volumes: unknown[] } } }).template;
    template.spec.volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'nowhere' } }];
    await cluster.create(vm);
    await cluster.wait('vm/no-claim', 'jsonpath={.status.printableStatus}=ErrorPvcNotFound', 60);
  });

  await t.test('no QEMU', async () => {
    await cluster.create(virtualMachine({ name: 'no-qemu', runStrategy: 'Once' }));
    await cluster.wait('vmi/no-qemu', 'jsonpath={.status.phase}=Failed', 60);
    await eventually('an event says so', async () =>
      /qemu-system-x86_64/.test(await cluster.get(['get', 'events', '-A'])),
    );
  });
});
