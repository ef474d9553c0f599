import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { parse } from 'yaml';
import type { VirtualMachine } from '../openapi/generated/types/kubevirt_v1.js';
import { harness } from './testing/harness.js';

async function create(t: TestContext, ...flags: string[]): Promise<VirtualMachine> {
  const { run, terminal } = await harness(t);
  assert.equal(await run('create', 'vm', ...flags), 0, terminal.said);
  return parse(terminal.printed) as VirtualMachine;
}

test('without flags it is a small machine that runs', async (t) => {
  const { metadata, spec } = await create(t);
  assert.match(metadata.name, /^vm-[0-9a-f]{6}$/);
  assert.deepEqual(spec, {
    runStrategy: 'Always',
    template: {
      spec: { domain: { devices: {}, memory: { guest: '512Mi' } }, terminationGracePeriodSeconds: 180 },
    },
  });
});

test('volumes, instancetype and inference', async (t) => {
  const { spec } = await create(
    t,
    ...['--name', 'vm1', '--run-strategy', 'manual', '--termination-grace-period=5'],
    ...['--instancetype', 'virtualmachineinstancetype/small', '--infer-preference'],
    ...['--volume-containerdisk', 'src:quay.io/x/y:1', '--volume-pvc=src:data,bootorder:2'],
    ...['--volume-import', 'type:http,url:http://h/i.img,size:2Gi,name:imported,bootorder:1'],
    ...['--volume-import', 'type:pvc,src:ns/golden', '--volume-sysprep', 'src:answers,type:secret'],
  );
  assert.equal(spec.runStrategy, 'Manual');
  assert.deepEqual(spec.instancetype, { kind: 'VirtualMachineInstancetype', name: 'small' });
  assert.deepEqual(spec.preference, { inferFromVolume: 'imported' });
  assert.deepEqual(
    spec.dataVolumeTemplates?.map(({ metadata, spec: volume }) => [metadata.name, volume]),
    [
      [
        'imported',
        {
          source: { http: { url: 'http://h/i.img' } },
          storage: { resources: { requests: { storage: '2Gi' } } },
        },
      ],
      ['vm1-volume-1', { source: { pvc: { namespace: 'ns', name: 'golden' } }, storage: {} }],
    ],
  );
  const { domain, volumes } = spec.template.spec ?? {};
  assert.deepEqual(domain?.devices.disks, [
    { name: 'data', disk: { bus: 'virtio' }, bootOrder: 2 },
    { name: 'imported', disk: { bus: 'virtio' }, bootOrder: 1 },
  ]);
  assert.equal(domain.memory, undefined);
  assert.deepEqual(volumes, [
    { name: 'vm1-containerdisk-0', containerDisk: { image: 'quay.io/x/y:1' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'imported', dataVolume: { name: 'imported' } },
    { name: 'vm1-volume-1', dataVolume: { name: 'vm1-volume-1' } },
    { name: 'sysprepdisk', sysprep: { secret: { name: 'answers' } } },
  ]);
});

test('users for cloud-init, whatever is in their passwords, and credentials for the agent', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'kubectl-virt-create-'));
  t.after(() => rm(directory, { recursive: true }));
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, 'se"cr: #et\n');
  const { spec } = await create(
    t,
    ...['--user', 'anna', '--password-file', passwordFile, '--ssh-key', 'ssh-ed25519 A a,ssh-ed25519 B b'],
    ...['--access-cred', 'src:keys,user:anna', '--cloud-init', 'configdrive'],
  );
  const [volume] = spec.template.spec?.volumes ?? [];
  assert.deepEqual(parse(volume?.cloudInitConfigDrive?.userData ?? ''), {
    user: 'anna',
    password: 'se"cr: #et',
    chpasswd: { expire: false },
    ssh_authorized_keys: ['ssh-ed25519 A a', 'ssh-ed25519 B b'],
  });
  assert.deepEqual(spec.template.spec?.accessCredentials, [
    {
      sshPublicKey: {
        source: { secret: { secretName: 'keys' } },
        propagationMethod: { qemuGuestAgent: { users: ['anna'] } },
      },
    },
  ]);
});

const wrong: readonly (readonly [flags: string[], message: RegExp])[] = [
  [['demo'], /goes behind --name/],
  [['--run-strategy', 'Never'], /none of Always, Halted/],
  [['--memory', '1Gi', '--instancetype', 'x'], /exclude each other/],
  [['--volume-pvc', 'name:x'], /src is missing/],
  [['--volume-pvc', 'src:x,colour:red'], /"colour:red" is none of/],
  [['--volume-pvc', 'src:x', '--volume-pvc', 'src:x'], /two volumes are named x/],
  [['--volume-import', 'type:floppy'], /type must be one of/],
  [['--volume-import', 'type:blank'], /needs a size/],
  [['--access-cred', 'src:x'], /needs user:USER/],
  [['--cloud-init-user-data', 'eA==', '--user', 'x'], /stands alone/],
];

for (const [flags, message] of wrong) {
  test(`create vm ${flags.join(' ')}: exit code 2 and a reason`, async (t) => {
    const { run, terminal } = await harness(t);
    assert.equal(await run('create', 'vm', ...flags), 2);
    assert.match(terminal.said, message);
  });
}
