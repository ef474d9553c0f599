import assert from 'node:assert/strict';
import test from 'node:test';
import type {
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from '../generated/types/kubevirt_instancetype_v1beta1.js';
import type { VirtualMachineInstanceSpec } from '../generated/types/kubevirt_v1.js';
import { expandTemplate, type ExpandedTemplate } from './expand.js';
import { topologyOf } from './topology.js';

const small: VirtualMachineInstancetypeSpec = { cpu: { guest: 4 }, memory: { guest: '2Gi' } };
const bare: VirtualMachineInstanceSpec = { domain: { devices: {} } };
const noNames = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };

function expanded(
  spec: VirtualMachineInstanceSpec,
  instancetype: VirtualMachineInstancetypeSpec | undefined,
  preference: VirtualMachinePreferenceSpec | undefined,
): ExpandedTemplate {
  const expansion = expandTemplate({ spec }, { instancetype, preference }, undefined);
  assert.equal(expansion.kind, 'expanded', JSON.stringify(expansion));
  return expansion.template;
}

function conflicts(
  spec: VirtualMachineInstanceSpec,
  instancetype: VirtualMachineInstancetypeSpec,
  annotations: Record<string, string> = {},
): string[] {
  const template = { metadata: { ...noNames, annotations }, spec };
  const expansion = expandTemplate(template, { instancetype, preference: undefined }, undefined);
  return expansion.kind === 'conflicts' ? expansion.conflicts.map(({ field }) => field) : [];
}

test('virtual CPUs are laid out as the preference wants', () => {
  const layout = (vcpus: number, cpu: VirtualMachinePreferenceSpec['cpu']): number[] => {
    const { sockets, cores, threads } = topologyOf(vcpus, cpu === undefined ? undefined : { cpu });
    return [sockets, cores, threads];
  };
  assert.deepEqual(layout(4, undefined), [4, 1, 1]);
  assert.deepEqual(layout(4, { preferredCPUTopology: 'any' }), [4, 1, 1]);
  assert.deepEqual(layout(4, { preferredCPUTopology: 'cores' }), [1, 4, 1]);
  assert.deepEqual(layout(4, { preferredCPUTopology: 'preferThreads' }), [1, 1, 4]);
  assert.deepEqual(layout(6, { preferredCPUTopology: 'spread' }), [3, 2, 1]);
  assert.deepEqual(layout(6, { preferredCPUTopology: 'spread', spreadOptions: { ratio: 3 } }), [2, 3, 1]);
  const spread = (across: string): number[] =>
    layout(8, { preferredCPUTopology: 'spread', spreadOptions: { across } });
  assert.deepEqual(spread('CoresThreads'), [1, 4, 2]);
  assert.deepEqual(spread('SocketsCoresThreads'), [2, 2, 2]);
  assert.deepEqual(layout(1, { preferredCPUTopology: 'spread' }), [1, 1, 1]);
  assert.deepEqual(
    topologyOf(6, { cpu: { preferredCPUTopology: 'spread' }, preferSpreadSocketToCoreRatio: 3 }),
    {
      sockets: 2,
      cores: 3,
      threads: 1,
    },
  );
});

test('the instance has what the instancetype has, and the template stays as it is', () => {
  const spec: VirtualMachineInstanceSpec = { domain: { devices: {}, cpu: { features: [{ name: 'vmx' }] } } };
  const { spec: got, metadata } = expanded(
    spec,
    {
      annotations: { size: 'small' },
      cpu: { guest: 2, model: 'Cascadelake-Server', dedicatedCPUPlacement: true, maxSockets: 8 },
      memory: { guest: '2Gi', overcommitPercent: 25, maxGuest: '4Gi' },
      gpus: [{ name: 'gpu', deviceName: 'vendor/gpu' }],
      ioThreadsPolicy: 'auto',
      nodeSelector: { disk: 'fast' },
      schedulerName: 'mine',
    },
    undefined,
  );
  assert.deepEqual(got.domain.cpu, {
    features: [{ name: 'vmx' }],
    model: 'Cascadelake-Server',
    dedicatedCpuPlacement: true,
    maxSockets: 8,
    sockets: 2,
    cores: 1,
    threads: 1,
  });
  assert.deepEqual(got.domain.memory, { guest: '2Gi', maxGuest: '4Gi' });
  assert.deepEqual(got.domain.resources, { requests: { memory: '1536Mi' } });
  assert.deepEqual(got.domain.devices.gpus, [{ name: 'gpu', deviceName: 'vendor/gpu' }]);
  assert.equal(got.domain.ioThreadsPolicy, 'auto');
  assert.deepEqual([got.nodeSelector, got.schedulerName], [{ disk: 'fast' }, 'mine']);
  assert.deepEqual(metadata?.annotations, { size: 'small' });
  assert.deepEqual(spec, { domain: { devices: {}, cpu: { features: [{ name: 'vmx' }] } } });
});

test("what an instancetype leaves empty stays the VM's own", () => {
  const own = { name: 'own', deviceName: 'vendor/gpu' };
  const { spec } = expanded(
    { domain: { devices: { gpus: [own] } }, schedulerName: 'mine' },
    { ...small, gpus: [], schedulerName: '' },
    undefined,
  );
  assert.deepEqual([spec.domain.devices.gpus, spec.schedulerName], [[own], 'mine']);
});

test('each field that both set is a conflict', () => {
  const spec: VirtualMachineInstanceSpec = {
    nodeSelector: { a: 'b' },
    domain: {
      cpu: { cores: 2, sockets: 0, model: 'host-model', dedicatedCpuPlacement: true },
      memory: { guest: '1Gi' },
      resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } },
      devices: { gpus: [{ name: 'own', deviceName: 'x/y' }] },
    },
  };
  assert.deepEqual(conflicts(spec, small, { a: '1' }), [
    'spec.domain.resources.requests.cpu',
    'spec.domain.resources.limits.memory',
    'spec.domain.cpu.cores',
    'spec.domain.memory.guest',
  ]);
  assert.deepEqual(
    conflicts(spec, {
      ...small,
      annotations: { a: '2', b: '2' },
      nodeSelector: {},
      cpu: { guest: 1, model: 'EPYC', dedicatedCPUPlacement: false },
      gpus: [{ name: 'gpu', deviceName: 'vendor/gpu' }],
    }),
    [
      'spec.nodeSelector',
      'spec.domain.resources.requests.cpu',
      'spec.domain.resources.limits.memory',
      'spec.domain.cpu.cores',
      'spec.domain.cpu.model',
      'spec.domain.cpu.dedicatedCpuPlacement',
      'spec.domain.memory.guest',
      'spec.domain.devices.gpus',
    ],
  );
  assert.deepEqual(conflicts(bare, { ...small, annotations: { a: '2', b: '2' } }, { a: '1', b: '2' }), [
    'metadata.annotations[a]',
  ]);
  assert.deepEqual(conflicts(bare, small), []);
});

test('a preference fills what is open, also of devices that come by themselves', () => {
  const { spec } = expanded(
    {
      domain: {
        devices: {
          disks: [
            { name: 'a', disk: { bus: 'scsi' } },
            { name: 'b', cdrom: {} },
          ],
        },
      },
      volumes: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    },
    undefined,
    {
      devices: {
        preferredAutoattachInputDevice: true,
        preferredInputBus: 'virtio',
        preferredInputType: 'tablet',
        preferredDiskBus: 'virtio',
        preferredCdromBus: 'sata',
        preferredDiskDedicatedIoThread: true,
        preferredInterfaceModel: 'e1000',
        preferredTPM: {},
        preferredPanicDeviceModel: 'hyperv',
      },
      preferredTerminationGracePeriodSeconds: 15,
      preferredSubdomain: 'sub',
    },
  );
  const { devices } = spec.domain;
  assert.deepEqual(devices.disks, [
    { name: 'a', disk: { bus: 'scsi' } },
    { name: 'b', cdrom: { bus: 'sata' } },
    { name: 'c', disk: { bus: 'virtio' }, dedicatedIOThread: true },
  ]);
  assert.deepEqual(devices.inputs, [{ name: 'default-0', bus: 'virtio', type: 'tablet' }]);
  assert.deepEqual(devices.interfaces, [{ name: 'default', masquerade: {}, model: 'e1000' }]);
  assert.deepEqual([devices.tpm, devices.panicDevices], [{}, [{ model: 'hyperv' }]]);
  assert.deepEqual([spec.terminationGracePeriodSeconds, spec.subdomain], [15, 'sub']);
});

test('the pod network can be preferred away, and masquerade is only for it', () => {
  const none = expanded(bare, undefined, { devices: { preferredAutoattachPodInterface: false } });
  assert.equal(none.spec.domain.devices.interfaces, undefined);
  const two = expanded(
    {
      domain: {
        devices: { interfaces: [{ name: 'pod' }, { name: 'other' }, { name: 'bound', bridge: {} }] },
      },
      networks: [
        { name: 'pod', pod: {} },
        { name: 'other', multus: { networkName: 'x' } },
        { name: 'bound', pod: {} },
      ],
    },
    undefined,
    { devices: { preferredInterfaceMasquerade: {} } },
  );
  assert.deepEqual(two.spec.domain.devices.interfaces, [
    { name: 'pod', masquerade: {} },
    { name: 'other' },
    { name: 'bound', bridge: {} },
  ]);
});

test('features, clock and firmware are preferred in part, but never against the machine', () => {
  const preference: VirtualMachinePreferenceSpec = {
    clock: { preferredClockOffset: { utc: {} }, preferredTimer: { hpet: { present: false } } },
    cpu: { preferredCPUFeatures: [{ name: 'vmx', policy: 'forbid' }, { name: 'x2apic' }] },
    features: {
      preferredAcpi: { enabled: false },
      preferredHyperv: { relaxed: {}, vapic: {} },
      preferredSmm: {},
    },
    firmware: { preferredEfi: { secureBoot: true }, preferredUseSecureBoot: false },
    machine: { preferredMachineType: 'q35' },
    preferredArchitecture: 'arm64',
  };
  const open = expanded(bare, undefined, preference).spec;
  assert.deepEqual(open.domain.clock, { utc: {}, timer: { hpet: { present: false } } });
  assert.deepEqual(open.domain.firmware, { bootloader: { efi: { secureBoot: true } } });
  assert.deepEqual([open.architecture, open.domain.machine], ['arm64', { type: 'q35' }]);
  assert.deepEqual(open.domain.features?.acpi, { enabled: false });
  const { domain } = expanded(
    {
      domain: {
        clock: { timezone: 'Europe/Berlin' },
        cpu: { features: [{ name: 'vmx', policy: 'require' }] },
        devices: {},
        features: { acpi: { enabled: true }, hyperv: { vapic: { enabled: false } } },
        firmware: { uuid: 'u', bootloader: { bios: {} } },
        machine: { type: 'pc-q35-9.0' },
      },
    },
    undefined,
    preference,
  ).spec;
  assert.deepEqual(domain.clock, { timezone: 'Europe/Berlin', timer: { hpet: { present: false } } });
  assert.deepEqual(domain.cpu, { features: [{ name: 'vmx', policy: 'require' }, { name: 'x2apic' }] });
  assert.deepEqual(domain.features, {
    acpi: { enabled: true },
    hyperv: { relaxed: {}, vapic: { enabled: false } },
    smm: {},
  });
  assert.deepEqual(domain.firmware, { uuid: 'u', bootloader: { bios: {} } });
  assert.deepEqual(domain.machine, { type: 'pc-q35-9.0' });
});
