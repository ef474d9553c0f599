import assert from 'node:assert/strict';
import test from 'node:test';
import { harness } from './testing/harness.js';

test('start, stop and restart send the options that KubeVirt has', async (t) => {
  const { run, server } = await harness(t);
  assert.equal(await run('start', 'demo', '--paused'), 0);
  assert.equal(await run('start', 'vm/demo', '--dry-run'), 0);
  assert.equal(await run('stop', 'demo'), 0);
  assert.equal(await run('stop', 'demo', '--force'), 0);
  assert.equal(await run('stop', 'vms/demo', '--grace-period', '30'), 0);
  assert.equal(await run('restart', 'virtualmachine.kubevirt.io/demo', '--force', '--grace-period=0'), 0);
  assert.deepEqual(server.actions, [
    { path: 'virtualmachines/demo/start', body: { paused: true } },
    { path: 'virtualmachines/demo/start', body: { dryRun: ['All'] } },
    { path: 'virtualmachines/demo/stop', body: {} },
    { path: 'virtualmachines/demo/stop', body: { gracePeriod: 0 } },
    { path: 'virtualmachines/demo/stop', body: { gracePeriod: 30 } },
    { path: 'virtualmachines/demo/restart', body: { gracePeriodSeconds: 0 } },
  ]);
});

test('a namespace on the command line wins over the context', async (t) => {
  const { run, server } = await harness(t);
  assert.equal(await run('start', 'demo', '-n', 'other'), 0);
  assert.equal(server.actions[0]?.path, '/apis/kubevirt.io/v1/namespaces/other/virtualmachines/demo/start');
});

const wrongCommandLines: readonly (readonly [argv: string[], message: RegExp])[] = [
  [['fly'], /there is no command "fly"/],
  [['start'], /which machine/],
  [['start', 'a', 'b'], /one machine at a time/],
  [['start', 'vmi/demo'], /write demo or vm\/demo/],
  [['start', 'pod/demo'], /"pod\/demo" names no machine/],
  [['start', 'demo', '--colour'], /Unknown option '--colour'/],
  [['stop', 'demo', '--grace-period', 'soon'], /"soon" is no number of seconds/],
  [['stop', 'demo', '--force', '--grace-period', '5'], /--force kills at once/],
  [['console', 'demo', '--timeout', 'never'], /"never" is no duration/],
  [['console', 'demo', '--force', '--read-only'], /choose one/],
];

for (const [argv, message] of wrongCommandLines) {
  test(`kubectl virt ${argv.join(' ')}: exit code 2 and a reason`, async (t) => {
    const { run, terminal, server } = await harness(t);
    assert.equal(await run(...argv), 2);
    assert.match(terminal.said, message);
    assert.deepEqual(server.actions, []);
  });
}

test('help lists the commands and their flags', async (t) => {
  const { run, terminal } = await harness(t);
  assert.equal(await run('--help'), 0);
  assert.match(terminal.printed, /create vm .*\n.*start .*\n.*stop .*\n.*restart /);
  assert.equal(await run('console', '--help'), 0);
  assert.match(terminal.printed, /--read-only/);
  assert.match(terminal.printed, /-n, --namespace NAMESPACE/);
});

test('a kubeconfig or context that is not there', async (t) => {
  const { run, terminal } = await harness(t);
  assert.equal(await run('start', 'demo', '--kubeconfig', '/nonexistent/config'), 1);
  assert.match(terminal.said, /\/nonexistent\/config/);
  assert.equal(await run('start', 'demo', '--context', 'elsewhere'), 1);
  assert.match(terminal.said, /no entry named "elsewhere"/);
});

test('no API server there', async (t) => {
  const { run, terminal, server } = await harness(t);
  await server.close();
  assert.equal(await run('start', 'demo'), 1);
  assert.match(terminal.said, /ECONNREFUSED/);
});
