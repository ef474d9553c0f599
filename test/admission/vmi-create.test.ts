/** Faulty VMIs through the whole write path: schema, defaults, rules. One row a fault; without a field it must be accepted. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstanceSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { startAdmission } from './server.js';

interface Row {
  readonly what: string;
  readonly change: (spec: VirtualMachineInstanceSpec) => void;
  readonly field?: string;
}

const valid = (): VirtualMachineInstanceSpec => ({
  domain: {
    memory: { guest: '1Gi' },
    devices: {
      disks: [{ name: 'root', disk: { bus: 'virtio' } }],
      interfaces: [{ name: 'default', masquerade: {} }],
    },
  },
  networks: [{ name: 'default', pod: {} }],
  volumes: [{ name: 'root', containerDisk: { image: 'registry.example.com/guest:1' } }],
});

/** A change that the types forbid, as a client may send it. */
const untyped =
  (change: (spec: Record<string, Record<string, unknown>>) => void): Row['change'] =>
  (spec) => {
    change(spec as unknown as Record<string, Record<string, unknown>>);
  };
const domain =
  (members: object): Row['change'] =>
  (spec) =>
    void Object.assign(spec.domain, members);
const nic =
  (members: object): Row['change'] =>
  (spec) =>
    void Object.assign(spec.domain.devices.interfaces?.[0] ?? {}, members);
const disk =
  (members: object): Row['change'] =>
  (spec) =>
    void Object.assign(spec.domain.devices.disks?.[0] ?? {}, members);
const inSpec =
  (members: object): Row['change'] =>
  (spec) =>
    void Object.assign(spec, members);
const podAffinity = (term: object): Row['change'] =>
  inSpec({
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone', ...term }] },
    },
  });
const inTerm = 'spec.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]';

const rows: readonly Row[] = [
  { what: 'nothing wrong', change: () => undefined },
  { what: 'no domain', change: untyped((spec) => delete spec['domain']), field: 'spec.domain' },
  {
    what: 'no devices',
    change: untyped((spec) => delete spec['domain']?.['devices']),
    field: 'spec.domain.devices',
  },
  {
    what: 'a container disk without an image',
    change: inSpec({ volumes: [{ name: 'root', containerDisk: {} }] }),
    field: 'spec.volumes[0].containerDisk.image',
  },
  {
    what: 'memory in words',
    change: domain({ memory: { guest: 'much' } }),
    field: 'spec.domain.memory.guest',
  },
  {
    what: 'memory with a broken exponent',
    change: domain({ memory: { guest: '1e1.5' } }),
    field: 'spec.domain.memory.guest',
  },
  { what: 'memory as a number', change: domain({ memory: { guest: 1_073_741_824 } }) },
  { what: 'no memory to speak of', change: domain({ memory: { guest: '0' } }) },
  {
    what: 'a CPU request in words',
    change: domain({ resources: { requests: { cpu: 'some' } } }),
    field: 'spec.domain.resources.requests.cpu',
  },
  ...['cores', 'sockets', 'threads'].map((name) => ({
    what: `negative ${name}`,
    change: domain({ cpu: { [name]: -1 } }),
    field: `spec.domain.cpu.${name}`,
  })),
  {
    what: 'a negative number of I/O threads',
    change: domain({ ioThreads: { supplementalPoolThreadCount: -1 } }),
    field: 'spec.domain.ioThreads.supplementalPoolThreadCount',
  },
  {
    what: 'negative spinlocks',
    change: domain({ features: { hyperv: { spinlocks: { spinlocks: -1 } } } }),
    field: 'spec.domain.features.hyperv.spinlocks.spinlocks',
  },
  {
    what: 'a negative boot order',
    change: disk({ bootOrder: -1 }),
    field: 'spec.domain.devices.disks[0].bootOrder',
  },
  {
    what: 'a negative discard granularity',
    change: disk({ blockSize: { custom: { logical: 512, physical: 512, discardGranularity: -512 } } }),
    field: 'spec.domain.devices.disks[0].blockSize.custom.discardGranularity',
  },
  {
    what: 'a list of no host devices',
    change: (spec) => {
      spec.domain.devices.hostDevices = [];
    },
  },
  {
    what: 'a namespace selector with an unknown operator',
    change: podAffinity({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }),
    field: `${inTerm}.namespaceSelector.matchExpressions[0].operator`,
  },
  {
    what: 'a label selector for what no label can be',
    change: podAffinity({
      labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b c'] }] },
    }),
    field: `${inTerm}.labelSelector.matchExpressions[0].values[0]`,
  },
  {
    what: 'a toleration with an unknown operator',
    change: inSpec({ tolerations: [{ key: 'a', operator: 'Exist' }] }),
    field: 'spec.tolerations[0].operator',
  },
  {
    what: 'a toleration with an unknown effect',
    change: inSpec({ tolerations: [{ operator: 'Exists', effect: 'NoRun' }] }),
    field: 'spec.tolerations[0].effect',
  },
  {
    what: 'an unknown policy of topology spread',
    change: inSpec({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', nodeTaintsPolicy: 'Honour' },
      ],
    }),
    field: 'spec.topologySpreadConstraints[0].nodeTaintsPolicy',
  },
  {
    what: 'a probe by an unknown scheme',
    change: inSpec({ readinessProbe: { httpGet: { port: 80, scheme: 'http' } } }),
    field: 'spec.readinessProbe.httpGet.scheme',
  },
  { what: 'a MAC address with dots', change: nic({ macAddress: '0200.1700.0001' }) },
  {
    what: 'the reserved MAC address with dots',
    change: nic({ macAddress: '0200.0000.0000' }),
    field: 'spec.domain.devices.interfaces[0].macAddress',
  },
  {
    what: 'a name server with a zone',
    change: inSpec({ dnsConfig: { nameservers: ['fe80::1%eth0'] } }),
    field: 'nameservers',
  },
  {
    what: 'an NTP server as IPv4 in IPv6',
    change: nic({ dhcpOptions: { ntpServers: ['::ffff:10.0.0.1'] } }),
  },
];

test('one fault of a VMI is one answer, in its place', async (t) => {
  const server = await startAdmission();
  t.after(() => server.close());
  for (const { what, change, field } of rows) {
    await t.test(what, async () => {
      const spec = valid();
      change(spec);
      const { status, causes } = await server.tryKind('VirtualMachineInstance', { name: 'faulty' }, spec);
      assert.equal(status, field === undefined ? 201 : 422, JSON.stringify(causes));
      if (field !== undefined)
        assert.ok(
          causes.some((cause) => cause.field === field),
          JSON.stringify(causes),
        );
    });
  }
});
