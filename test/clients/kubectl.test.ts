/** What a user does with manifests, by each kubectl that is supported. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { command, type CommandResult } from '../e2e/harness.js';
import { writeKubeconfig } from './kubeconfig.js';

const tools = path.resolve(import.meta.dirname, '../../build/tools');
const versions = ['v1.30', 'v1.35', 'v1.36'] as const;

let server: NativeServer;
let directory: string;

before(async () => {
  server = await startNativeServer();
  directory = mkdtempSync(path.join(tmpdir(), 'nativirt-kubectl-'));
  writeKubeconfig(path.join(directory, 'kubeconfig'), server);
});

after(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

async function kubectl(version: string, line: string, manifest?: object): Promise<CommandResult> {
  const flags = [
    ...['--kubeconfig', path.join(directory, 'kubeconfig')],
    ...['--cache-dir', path.join(directory, `cache-${version}`)],
  ];
  return command(path.join(tools, `kubectl-${version}`), [...flags, ...line.split(' ')], {
    ...(manifest === undefined ? {} : { input: JSON.stringify(manifest) }),
  });
}

/** The standard output of a command that must succeed and warn of nothing. */
async function succeeds(version: string, line: string, manifest?: object): Promise<string> {
  const { code, stdout, stderr } = await kubectl(version, line, manifest);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, `kubectl-${version} ${line}`);
  return stdout;
}

const machine = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'vm' },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
};
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b' } };
const list = { apiVersion: 'v1', kind: 'List', items: [machine, settings] };

for (const version of versions) {
  test(`${version}: a List, which is checked against OpenAPI v2`, async () => {
    const made = await succeeds(version, 'create -o name -f -', list);
    assert.equal(made, 'virtualmachine.kubevirt.io/vm\nconfigmap/settings\n');
    await succeeds(version, 'delete -f -', list);
  });

  test(`${version}: apply, again, and with a field that there is not`, async () => {
    assert.match(await succeeds(version, 'apply --validate=strict -f -', list), /vm created/);
    assert.match(await succeeds(version, 'apply --validate=strict -f -', list), /vm unchanged/);
    const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
    assert.match(await succeeds(version, 'apply --validate=strict -f -', changed), /vm configured/);
    assert.equal(await succeeds(version, 'get vm vm -o jsonpath={.spec.runStrategy}'), 'Manual');
    const wrong = { ...machine, spec: { ...machine.spec, runStrateggy: 'Halted' } };
    const refused = await kubectl(version, 'apply --validate=strict -f -', wrong);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /unknown field "spec\.runStrateggy"/);
    await succeeds(version, 'delete -f -', list);
  });

  test(`${version}: apply on the server's side, and what another owns`, async () => {
    await succeeds(version, 'apply --server-side -f -', machine);
    const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
    const refused = await kubectl(version, 'apply --server-side --field-manager=other -f -', changed);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /conflict with "kubectl": \.spec\.runStrategy/);
    await succeeds(version, 'apply --server-side --field-manager=other --force-conflicts -f -', changed);
    await succeeds(version, 'delete vm vm');
  });

  test(`${version}: explain`, async () => {
    const explained = await succeeds(version, 'explain vm.spec.template.spec.domain.devices --recursive');
    assert.match(explained, /FIELD: devices <Devices>/);
    assert.match(explained, /\n +disks\t<\[\]Disk>/);
    assert.match(await succeeds(version, 'explain pods.spec'), /FIELD: spec <PodSpec>/);
  });
}
