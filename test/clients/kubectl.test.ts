/** What a user does with manifests, by each kubectl that is supported. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { Cluster, command, type CommandResult } from '../e2e/harness.js';

const tools = path.resolve(import.meta.dirname, '../../build/tools');
const versions = ['v1.30', 'v1.35', 'v1.36'];

class Kubectl {
  constructor(
    private readonly cluster: Cluster,
    private readonly version: string,
  ) {}

  async run(line: string, manifest?: object): Promise<CommandResult> {
    const { kubeconfig, dataDirectory } = this.cluster;
    const cache = path.join(dataDirectory, `cache-${this.version}`);
    const flags = ['--kubeconfig', kubeconfig, '--cache-dir', cache];
    return command(path.join(tools, `kubectl-${this.version}`), [...flags, ...line.split(' ')], {
      ...(manifest === undefined ? {} : { input: JSON.stringify(manifest) }),
    });
  }

  /** The standard output of a command that must succeed and warn of nothing. */
  async succeeds(line: string, manifest?: object): Promise<string> {
    const { code, stdout, stderr } = await this.run(line, manifest);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, `kubectl-${this.version} ${line}`);
    return stdout;
  }
}

const machine = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'vm' },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
};
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { a: 'b' } };
const list = { apiVersion: 'v1', kind: 'List', items: [machine, settings] };

test('manifests', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  for (const version of versions) {
    const kubectl = new Kubectl(cluster, version);

    await t.test(`${version}: a List, which is checked against OpenAPI v2`, async () => {
      const made = await kubectl.succeeds('create -o name -f -', list);
      assert.equal(made, 'virtualmachine.kubevirt.io/vm\nconfigmap/settings\n');
      await kubectl.succeeds('delete -f -', list);
    });

    await t.test(`${version}: apply, again, and with a field that there is not`, async () => {
      assert.match(await kubectl.succeeds('apply --validate=strict -f -', list), /vm created/);
      assert.match(await kubectl.succeeds('apply --validate=strict -f -', list), /vm unchanged/);
      const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
      assert.match(await kubectl.succeeds('apply --validate=strict -f -', changed), /vm configured/);
      assert.equal(await kubectl.succeeds('get vm vm -o jsonpath={.spec.runStrategy}'), 'Manual');
      const wrong = { ...machine, spec: { ...machine.spec, runStrateggy: 'Halted' } };
      const refused = await kubectl.run('apply --validate=strict -f -', wrong);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /unknown field "spec\.runStrateggy"/);
      await kubectl.succeeds('delete -f -', list);
    });

    await t.test(`${version}: apply on the server's side, and what another owns`, async () => {
      await kubectl.succeeds('apply --server-side -f -', machine);
      const changed = { ...machine, spec: { ...machine.spec, runStrategy: 'Manual' } };
      const asOther = 'apply --server-side --field-manager=other -f -';
      const refused = await kubectl.run(asOther, changed);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /conflict with "kubectl": \.spec\.runStrategy/);
      await kubectl.succeeds(`${asOther} --force-conflicts`, changed);
      await kubectl.succeeds('delete vm vm');
    });

    await t.test(`${version}: explain`, async () => {
      const explained = await kubectl.succeeds('explain vm.spec.template.spec.domain.devices --recursive');
      assert.match(explained, /FIELD: devices <Devices>/);
      assert.match(explained, /\n +disks\t<\[\]Disk>/);
      assert.match(await kubectl.succeeds('explain pods.spec'), /FIELD: spec <PodSpec>/);
    });
  }
});
