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

/** A namespace of its own: without controllers a deleted machine waits for its finalizer for ever. */
async function inNamespace(version: string, purpose: string): Promise<string> {
  const name = `${purpose}-${version.replace('.', '-')}`;
  await succeeds(version, `create namespace ${name}`);
  return `--namespace ${name}`;
}

for (const version of versions) {
  test(`${version}: a List, which is checked against OpenAPI v2`, async () => {
    const scope = await inNamespace(version, 'list');
    const made = await succeeds(version, `create ${scope} -o name -f -`, list);
    assert.equal(made, 'virtualmachine.kubevirt.io/vm\nconfigmap/settings\n');
    await succeeds(version, `delete ${scope} --wait=false -f -`, list);
  });

  test(`${version}: apply, again, and with a field that there is not`, async () => {
    const scope = await inNamespace(version, 'apply');
    assert.match(await succeeds(version, `apply ${scope} --validate=strict -f -`, list), /vm created/);
    assert.match(await succeeds(version, `apply ${scope} --validate=strict -f -`, list), /vm unchanged/);
    const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
    assert.match(await succeeds(version, `apply ${scope} --validate=strict -f -`, changed), /vm configured/);
    assert.equal(await succeeds(version, `get ${scope} vm vm -o jsonpath={.spec.runStrategy}`), 'Manual');
    const wrong = { ...machine, spec: { ...machine.spec, runStrateggy: 'Halted' } };
    const refused = await kubectl(version, `apply ${scope} --validate=strict -f -`, wrong);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /unknown field "spec\.runStrateggy"/);
  });

  test(`${version}: apply on the server's side, and what another owns`, async () => {
    const scope = await inNamespace(version, 'server-side');
    await succeeds(version, `apply ${scope} --server-side -f -`, machine);
    const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
    const refused = await kubectl(
      version,
      `apply ${scope} --server-side --field-manager=other -f -`,
      changed,
    );
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /conflict with "kubectl": \.spec\.runStrategy/);
    await succeeds(
      version,
      `apply ${scope} --server-side --field-manager=other --force-conflicts -f -`,
      changed,
    );
  });

  test(`${version}: explain`, async () => {
    const explained = await succeeds(version, 'explain vm.spec.template.spec.domain.devices --recursive');
    assert.match(explained, /FIELD: devices <Devices>/);
    assert.match(explained, /\n +disks\t<\[\]Disk>/);
    assert.match(await succeeds(version, 'explain pods.spec'), /FIELD: spec <PodSpec>/);
  });
}
