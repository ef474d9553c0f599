/** What is done with a running guest: through the API server, the node agent, the launcher and the guest itself. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceFileSystemList,
  VirtualMachineInstanceGuestAgentInfo,
  VirtualMachineInstanceGuestOSUserList,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { converse } from './console.js';
import { Cluster, command, eventually, type CommandResult } from './harness.js';
import { virtualMachine } from './manifests.js';

const userData = `#cloud-config
hostname: subresources
`;

const program = path.resolve(import.meta.dirname, '../../bin/nativirt');

/** How often the guest has booted, by its console. */
const bootsIn = ({ stdout }: CommandResult): number => stdout.split('login: ').length;

test('subresources of a running guest, with the real QEMU and guest agent', async (t) => {
  const cluster = await Cluster.start(t);
  await cluster.create(virtualMachine({ name: 'demo', userData, panicDevices: [{ model: 'isa' }] }));
  await cluster.wait('vmi/demo', 'condition=AgentConnected', 180);
  const vmi = (): Promise<VirtualMachineInstance> => cluster.json(['get', 'vmi', 'demo']);
  const virt = async (...args: string[]): Promise<CommandResult> => {
    const result = await cluster.virt(args);
    assert.equal(result.code, 0, `${args.join(' ')}: ${result.stderr}`);
    return result;
  };

  const users = async (): Promise<VirtualMachineInstanceGuestOSUserList['items']> => {
    const { stdout } = await virt('userlist', 'demo');
    return (JSON.parse(stdout) as VirtualMachineInstanceGuestOSUserList).items;
  };
  const podDirectory = async (): Promise<string> => {
    const [[pod, node] = []] = Object.entries((await vmi()).status?.activePods ?? {});
    return path.join(cluster.dataDirectory, 'nodes', String(node), 'pods', String(pod));
  };
  const probe = async (...inGuest: string[]): Promise<CommandResult> => {
    const how = ['--pod-dir', await podDirectory(), '--probe-timeout', '60', '--probe', '--'];
    return await command(program, ['launcher', ...how, ...inGuest]);
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
    await eventually(
      'the status shows its address',
      async () => (await vmi()).status?.interfaces?.[0]?.ipAddress === '10.0.2.15',
    );
  });

  await t.test('who logs in is in the list of users', async () => {
    assert.deepEqual(await users(), []);
    await converse(cluster, 'demo', [
      ['login: ', 'nativirt\n'],
      ['assword:', 'nativirt\n'],
      ['$ ', ''],
    ]);
    const [user] = await users();
    assert.equal(user?.userName, 'nativirt');
    assert.ok((user.loginTime ?? 0) > 0);
  });

  await t.test('the agent answers what a kubelet’s probes ask of the launcher', async () => {
    assert.equal((await probe()).code, 0);
    assert.equal((await probe('test', '-e', '/etc/os-release')).code, 0);
    const failed = await probe('sh', '-c', 'echo out; echo err >&2; exit 3');
    assert.deepEqual([failed.code, failed.stderr], [1, 'the command ended with status 3\nout\nerr\n']);
    const absent = await probe('/nowhere');
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /nowhere.*No such file/);
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

  await t.test('a guest that panics has failed, and its VM starts another', async () => {
    const { uid } = (await vmi()).metadata;
    // The machine ends before the agent could say how the command did.
    await probe('sh', '-c', 'echo c >/proc/sysrq-trigger');
    const panicked = (): Promise<string> =>
      cluster.get([
        ...['get', 'events', '--field-selector', `involvedObject.uid=${uid},reason=GuestPanicked`],
        ...['-o', 'name'],
      ]);
    await eventually('an event tells of the panic', async () => (await panicked()) !== '');
    await eventually('there is another instance', async () => {
      const { stdout } = await cluster.kubectl(['get', 'vmi', 'demo', '-o', 'jsonpath={.metadata.uid}']);
      return stdout !== '' && stdout !== uid;
    });
  });
});
