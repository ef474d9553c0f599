/** Who may change what of a VMI that runs. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { virtualMachineInstanceUpdateValidation } from '../../apiserver/admission/vmi/update.js';
import type { UserInfo } from '../../apiserver/request.js';
import { isComponent, nodeAgentOf, nodesGroup, nodeUser } from '../../deploy/standalone/identities.js';
import { apiserverUser } from '../../openapi/node-agent.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { contextOf } from './vectors.js';

const plugin = virtualMachineInstanceUpdateValidation({ isComponent, nodeAgentOf });
const apiserver: UserInfo = { name: apiserverUser, groups: ['system:masters'], extra: {} };
const somebody: UserInfo = { name: 'jane', groups: ['system:masters'], extra: {} };
const agentOf = (node: string): UserInfo => ({ name: nodeUser(node), groups: [nodesGroup], extra: {} });

function running(): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-02T03:04:05Z',
    },
    spec: {
      domain: {
        cpu: { sockets: 1, maxSockets: 4 },
        memory: { guest: '1Gi', maxGuest: '4Gi' },
        devices: {
          disks: [
            { name: 'root', disk: { bus: 'virtio' } },
            { name: 'data', disk: { bus: 'scsi' } },
            { name: 'drive', cdrom: { bus: 'sata' } },
          ],
        },
      },
      volumes: [
        { name: 'root', containerDisk: { image: 'registry.example.com/guest:1' } },
        { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } },
      ],
    },
    status: {
      nodeName: 'node-1',
      volumeStatus: [
        { name: 'root', target: 'vda' },
        { name: 'data', target: 'sda', hotplugVolume: {} },
      ],
    },
  };
}

async function fields(
  user: UserInfo,
  change: (vmi: VirtualMachineInstance) => void,
  { subresource, featureGates = [] }: { subresource?: 'status'; featureGates?: string[] } = {},
): Promise<(string | undefined)[]> {
  const [vmi, old] = [running(), running()];
  change(vmi);
  const request = {
    operation: 'UPDATE' as const,
    group: 'kubevirt.io',
    version: 'v1',
    resource: 'virtualmachineinstances',
    kind: 'VirtualMachineInstance',
    subresource,
    namespace: 'default',
    name: 'a',
    object: vmi,
    oldObject: old,
    user,
    dryRun: false,
  };
  assert.ok(plugin.handles(request));
  const context = contextOf({ configuration: { developerConfiguration: { featureGates } } });
  return ((await plugin.validate?.(request, context)) ?? []).map(({ field }) => field);
}

const disk = (name: string, bus: string) => ({ name, disk: { bus } });
const claim = (name: string) => ({ name, persistentVolumeClaim: { claimName: name, hotpluggable: true } });
const plug = (vmi: VirtualMachineInstance, bus: string): void => {
  vmi.spec.volumes?.push(claim('more'));
  vmi.spec.domain.devices.disks?.push(disk('more', bus));
};

test('a grace period is set by the API server, which stops guests, and by nobody else', async () => {
  const hurry = (vmi: VirtualMachineInstance): void => {
    vmi.spec.terminationGracePeriodSeconds = 3;
  };
  assert.deepEqual(await fields(apiserver, hurry), []);
  assert.deepEqual(await fields(somebody, hurry), ['spec.terminationGracePeriodSeconds']);
});

test('every field that a user may not change is named', async () => {
  const got = await fields(somebody, (vmi) => {
    vmi.spec.domain.cpu = { sockets: 2, maxSockets: 4 };
    vmi.spec.nodeSelector = { disk: 'fast' };
    vmi.metadata.labels = { 'kubevirt.io/nodeName': 'node-2', app: 'web' };
  });
  assert.deepEqual(got, [
    'spec.domain.cpu.sockets',
    'spec.nodeSelector',
    'metadata.labels[kubevirt.io/nodeName]',
  ]);
});

test('CPUs and memory grow within what was settled at the start', async () => {
  const grow = (vmi: VirtualMachineInstance): void => {
    vmi.spec.domain.cpu = { sockets: 2, maxSockets: 4 };
    vmi.spec.domain.memory = { guest: '2Gi', maxGuest: '4096Mi' };
  };
  assert.deepEqual(await fields(apiserver, grow), []);
  const more = (vmi: VirtualMachineInstance): void => {
    vmi.spec.domain.cpu = { sockets: 2, maxSockets: 8 };
    vmi.spec.domain.memory = { guest: '2Gi', maxGuest: '8Gi' };
  };
  assert.deepEqual(await fields(apiserver, more), [
    'spec.domain.cpu.maxSockets',
    'spec.domain.memory.maxGuest',
  ]);
});

test('a volume is plugged with its disk, on a bus that takes it', async () => {
  assert.deepEqual(await fields(apiserver, (vmi) => plug(vmi, 'scsi')), []);
  assert.deepEqual(await fields(apiserver, (vmi) => plug(vmi, 'sata')), [
    'spec.domain.devices.disks[3].disk.bus',
  ]);
  const image = (vmi: VirtualMachineInstance): void => {
    vmi.spec.volumes?.push({ name: 'more', containerDisk: { image: 'registry.example.com/more' } });
    vmi.spec.domain.devices.disks?.push(disk('more', 'scsi'));
  };
  assert.deepEqual(await fields(apiserver, image), ['spec.volumes[2]']);
  const lost = (vmi: VirtualMachineInstance): void => void vmi.spec.volumes?.push(claim('more'));
  assert.deepEqual(await fields(apiserver, lost), ['spec.volumes[2].name']);
  const medium = (vmi: VirtualMachineInstance): void => void vmi.spec.volumes?.push(claim('drive'));
  assert.deepEqual(await fields(apiserver, medium), [], 'an empty drive takes a medium');
});

test('what was plugged may go but not change, what the guest started with stays', async () => {
  const unplug = (vmi: VirtualMachineInstance): void => {
    vmi.spec.volumes?.splice(1, 1);
    vmi.spec.domain.devices.disks?.splice(1, 1);
  };
  assert.deepEqual(await fields(apiserver, unplug), []);
  const other = (vmi: VirtualMachineInstance): void => {
    vmi.spec.volumes?.splice(1, 1, { name: 'data', persistentVolumeClaim: { claimName: 'other' } });
    vmi.spec.domain.devices.disks?.splice(1, 1, disk('data', 'virtio'));
  };
  assert.deepEqual(await fields(apiserver, other), ['spec.volumes[1]', 'spec.domain.devices.disks[1]']);
  const rootless = (vmi: VirtualMachineInstance): void => {
    vmi.spec.volumes?.shift();
    vmi.spec.domain.devices.disks?.shift();
  };
  assert.deepEqual(await fields(apiserver, rootless), ['spec.volumes']);
  const migrated = (vmi: VirtualMachineInstance): void => {
    vmi.spec.volumes?.splice(0, 1, claim('root'));
    vmi.status = { ...vmi.status, migratedVolumes: [{ volumeName: 'root' }] };
  };
  assert.deepEqual(await fields(apiserver, migrated), []);
});

test('utility volumes have names and claims of their own', async () => {
  const add =
    (...volumes: { name: string; claimName: string }[]) =>
    (vmi: VirtualMachineInstance): void => {
      vmi.spec.utilityVolumes = volumes;
    };
  const backup = { name: 'backup', claimName: 'backup' };
  const featureGates = ['UtilityVolumes'];
  assert.deepEqual(await fields(apiserver, add(backup)), ['spec.utilityVolumes']);
  assert.deepEqual(await fields(apiserver, add(backup), { featureGates }), []);
  assert.deepEqual(await fields(apiserver, add(backup, { ...backup, claimName: '' }), { featureGates }), [
    'spec.utilityVolumes[1].name',
    'spec.utilityVolumes[1].claimName',
  ]);
  assert.deepEqual(await fields(apiserver, add({ ...backup, name: 'root' }), { featureGates }), [
    'spec.utilityVolumes[0].name',
  ]);
});

test('a node agent tells of its own guests only', async () => {
  const subresource = 'status';
  const tell = (vmi: VirtualMachineInstance): void =>
    void Object.assign(vmi.status ?? {}, { phase: 'Running' });
  assert.deepEqual(await fields(agentOf('node-1'), tell, { subresource }), []);
  assert.deepEqual(await fields(agentOf('node-2'), tell, { subresource }), ['status.nodeName']);
  const send = (vmi: VirtualMachineInstance): void =>
    void Object.assign(vmi.status ?? {}, { migrationState: { targetNode: 'node-2' } });
  assert.deepEqual(await fields(agentOf('node-1'), send, { subresource }), [
    'status.migrationState.targetNode',
  ]);
  assert.deepEqual(await fields(somebody, send, { subresource }), [], 'others are judged by their roles');
});
