/** What is done with a running guest: through the API server, the node agent, the launcher and the guest itself. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceFileSystemList,
  VirtualMachineInstanceGuestAgentInfo,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { Cluster, eventually, type CommandResult } from './harness.js';
import { virtualMachine } from './manifests.js';

const userData = `#cloud-config
hostname: subresources
`;

/** How often the guest has booted, by its console. */
const bootsIn = ({ stdout }: CommandResult): number => stdout.split('login: ').length;

test('subresources of a running guest, with the real QEMU and guest agent', async (t) => {
  const cluster = await Cluster.start(t);
  await cluster.create(virtualMachine({ name: 'demo', userData }));
  await cluster.wait('vmi/demo', 'condition=AgentConnected', 180);
  const vmi = (): Promise<VirtualMachineInstance> => cluster.json(['get', 'vmi', 'demo']);
  const virt = async (...args: string[]): Promise<CommandResult> => {
    const result = await cluster.virt(args);
    assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
    return result;
  };

  await t.test('the guest tells of itself', async () => {
    const info = JSON.parse(
      (await virt('guestosinfo', 'demo')).stdout,
    ) as VirtualMachineInstanceGuestAgentInfo;
    assert.equal(info.hostname, 'subresources');
    assert.match(info.os?.kernelRelease ?? '', /^\d+\.\d+/);
    assert.ok(info.supportedCommands?.some(({ name }) => name === 'guest-fsfreeze-freeze'));
    const list = JSON.parse(
      (await virt('fslist', 'vm', 'demo')).stdout,
    ) as VirtualMachineInstanceFileSystemList;
    const root = list.items.find(({ mountPoint }) => mountPoint === '/');
    assert.ok(root !== undefined && root.totalBytes > root.usedBytes && root.usedBytes > 0);
    await virt('userlist', 'demo');
    await eventually(
      'the status shows its address',
      async () => (await vmi()).status?.interfaces?.[0]?.ipAddress === '10.0.2.15',
    );
  });

  await t.test('pause and unpause change the condition and the printed state', async () => {
    await virt('pause', 'vm', 'demo', '--dry-run');
    assert.equal(
      (await vmi()).status?.conditions?.find(({ type }) => type === 'Paused'),
      undefined,
    );
    await virt('pause', 'demo');
    await cluster.wait('vmi/demo', 'condition=Paused', 30);
    await cluster.wait('vm/demo', 'jsonpath={.status.printableStatus}=Paused', 30);
    const again = await cluster.virt(['pause', 'demo']);
    assert.match(again.stderr, /VMI is already paused/);
    const port = await cluster.virt(['port-forward', '--stdio', 'vmi/demo', '22'], '');
    assert.match(port.stderr, /VMI is paused/);
    await virt('unpause', 'demo');
    await cluster.wait('vm/demo', 'jsonpath={.status.printableStatus}=Running', 30);
    assert.match((await cluster.virt(['unpause', 'demo'])).stderr, /VMI is not paused/);
  });

  await t.test('file systems freeze, and thaw by themselves in time', async () => {
    const put = (action: string, body: object): Promise<CommandResult> =>
      cluster.kubectl(
        [
          ...['replace', '--raw'],
          `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/demo/${action}`,
          ...['-f', '-'],
        ],
        JSON.stringify(body),
      );
    const frozen = await put('freeze', { unfreezeTimeout: '0s' });
    assert.equal(frozen.code, 0, frozen.stderr);
    await eventually('it is frozen', async () => (await vmi()).status?.fsFreezeStatus === 'frozen');
    const thawed = await put('unfreeze', {});
    assert.equal(thawed.code, 0, thawed.stderr);
    await eventually('it is thawed', async () => (await vmi()).status?.fsFreezeStatus === undefined);
    await put('freeze', { unfreezeTimeout: '1s' });
    await eventually('it is frozen', async () => (await vmi()).status?.fsFreezeStatus === 'frozen');
    await eventually('it is thawed', async () => (await vmi()).status?.fsFreezeStatus === undefined);
  });

  await t.test('a screenshot is a PNG image of the display', async () => {
    const file = path.join(cluster.dataDirectory, 'screen.png');
    await virt('vnc', 'screenshot', 'demo', '-f', file);
    const image = readFileSync(file);
    assert.equal(image.subarray(1, 4).toString(), 'PNG');
    const [width, height] = [image.readUInt32BE(16), image.readUInt32BE(20)];
    assert.ok(width >= 320 && height >= 200, `${width}x${height}`);
  });

  await t.test('a soft reboot and a reset boot the same instance again', async () => {
    const { uid } = (await vmi()).metadata;
    let boots = bootsIn(await virt('logs', 'demo'));
    for (const command of ['soft-reboot', 'reset']) {
      await virt(command, 'demo');
      await eventually(
        `it has booted after ${command}`,
        async () => bootsIn(await virt('logs', 'demo')) > boots,
        120,
      );
      boots = bootsIn(await virt('logs', 'demo'));
      await cluster.wait('vmi/demo', 'condition=AgentConnected', 120);
    }
    assert.equal((await vmi()).metadata.uid, uid);
    assert.equal((await vmi()).status?.phase, 'Running');
  });
});
