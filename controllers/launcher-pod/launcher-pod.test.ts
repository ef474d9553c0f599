import assert from 'node:assert/strict';
import test from 'node:test';
import type { Container, PodSpec } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { toBytes } from '../../openapi/quantity.js';
import { defaultConfiguration } from '../configuration.js';
import { launcherGracePeriod, launcherPod } from './launcher-pod.js';
import { launcherPodName } from './metadata.js';

function vmi(spec: Partial<VirtualMachineInstanceSpec> = {}, name = 'web'): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      namespace: 'team',
      name,
      uid: '3f2a',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web', 'kubevirt.io/nodeName': 'old' },
      annotations: { note: 'x', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    },
    spec: { domain: { devices: {}, memory: { guest: '1Gi' } }, ...spec },
  };
}

const settings = {
  launcherImage: 'launcher:1',
  imagePullSecrets: [],
  devicePlugins: true,
  configuration: defaultConfiguration as KubeVirtConfiguration,
};

const emulating = {
  ...settings,
  configuration: { ...settings.configuration, developerConfiguration: { useEmulation: true } },
};

function specOf(instance: VirtualMachineInstance, blocks?: ReadonlySet<string>): PodSpec {
  const { spec } = launcherPod(instance, settings, blocks);
  assert.ok(spec);
  return spec;
}

function compute(instance: VirtualMachineInstance): Container {
  const container = specOf(instance).containers.find(({ name }) => name === 'compute');
  assert.ok(container);
  return container;
}

test('labels and annotations are those that dashboards and policies look for', () => {
  const { metadata } = launcherPod(vmi(), settings);
  assert.deepEqual(metadata.labels, {
    app: 'web',
    'kubevirt.io': 'virt-launcher',
    'kubevirt.io/created-by': '3f2a',
    'vm.kubevirt.io/name': 'web',
    'vmi.kubevirt.io/id': 'web',
  });
  const { 'kubevirt.io/memory-overhead-bytes': overhead, ...annotations } = metadata.annotations ?? {};
  assert.deepEqual(annotations, {
    note: 'x',
    'kubevirt.io/domain': 'web',
    'kubectl.kubernetes.io/default-container': 'compute',
    'descheduler.alpha.kubernetes.io/request-evict-only': '',
  });
  const { requests } = compute(vmi()).resources ?? {};
  assert.equal(toBytes(requests?.memory ?? 0), 1024 ** 3 + Number(overhead));
  assert.equal(metadata.ownerReferences?.[0]?.controller, true);
});

test('one VMI has one pod name, another of the same name has another; long names fit', () => {
  const first = vmi();
  const second = { ...first, metadata: { ...first.metadata, uid: 'other' } };
  assert.equal(launcherPodName(first), launcherPodName(vmi()));
  assert.notEqual(launcherPodName(first), launcherPodName(second));
  assert.match(launcherPodName(first), /^virt-launcher-web-[0-9a-f]{8}$/);
  const long = launcherPod(vmi({}, `${'a'.repeat(200)}.${'b'.repeat(52)}`), settings);
  assert.ok((long.metadata.name ?? '').length <= 253);
  assert.ok((long.metadata.labels?.['vm.kubevirt.io/name'] ?? '').length <= 63);
  assert.match(long.spec?.hostname ?? '', /^a{63}$/);
});

test('memory: the guest’s and the overhead; processors are shared', () => {
  const { requests = {} } =
    compute(vmi({ domain: { devices: {}, cpu: { cores: 2 }, memory: { guest: '1Gi' } } })).resources ?? {};
  const overhead = toBytes(requests.memory ?? 0) - 1024 ** 3;
  assert.ok(overhead > 150 * 1024 ** 2 && overhead < 300 * 1024 ** 2, `the overhead is ${overhead}`);
  assert.equal(requests.cpu, '200m');
});

test('overcommitted guests ask for less, and may leave the overhead out', () => {
  const configuration = { ...defaultConfiguration, developerConfiguration: { memoryOvercommit: 200 } };
  const domain = { devices: {}, memory: { guest: '1Gi' }, resources: { overcommitGuestOverhead: true } };
  const { spec } = launcherPod(vmi({ domain }), { ...settings, configuration });
  assert.equal(spec?.containers[0]?.resources?.requests?.memory, '512Mi');
});

test('what the user asks for stays; a memory limit grows by the overhead', () => {
  const resources = { requests: { cpu: '1500m', memory: '512Mi' }, limits: { memory: '2Gi', cpu: '2' } };
  const domain = { devices: {}, memory: { guest: '1Gi' }, resources };
  const { requests = {}, limits = {} } = compute(vmi({ domain })).resources ?? {};
  assert.equal(requests.cpu, '1500m');
  assert.ok(toBytes(requests.memory ?? 0) > 512 * 1024 ** 2);
  assert.ok(toBytes(limits.memory ?? 0) > 2 * 1024 ** 3);
  assert.equal(limits.cpu, '2');
});

test('dedicated processors are whole, and one more if the emulator has its own', () => {
  const cpu = { cores: 2, threads: 2, dedicatedCpuPlacement: true, isolateEmulatorThread: true };
  const { requests, limits } =
    compute(vmi({ domain: { devices: {}, cpu, memory: { guest: '1Gi' } } })).resources ?? {};
  assert.equal(requests?.cpu, '5');
  assert.equal(limits?.cpu, '5');
});

test('huge pages hold the guest, plain memory the rest', () => {
  const memory = { guest: '1Gi', hugepages: { pageSize: '2Mi' } };
  const { requests = {}, limits = {} } = compute(vmi({ domain: { devices: {}, memory } })).resources ?? {};
  assert.equal(requests['hugepages-2Mi'], '1Gi');
  assert.equal(limits['hugepages-2Mi'], '1Gi');
  assert.ok(toBytes(requests.memory ?? 0) < 512 * 1024 ** 2);
});

test('devices are asked for by their resource names', () => {
  const devices = {
    gpus: [{ name: 'g', deviceName: 'vendor/gpu' }],
    hostDevices: [{ name: 'h', deviceName: 'vendor/gpu' }],
  };
  const { requests = {}, limits = {} } =
    compute(vmi({ domain: { devices, memory: { guest: '1Gi' } } })).resources ?? {};
  assert.equal(requests['vendor/gpu'], 2);
  assert.equal(limits['vendor/gpu'], 2);
});

test('the node must have the processor that the guest is to see', () => {
  const selector = (cpu: object): unknown =>
    specOf(vmi({ domain: { devices: {}, cpu, memory: { guest: '1Gi' } } })).nodeSelector;
  const schedulable = { 'kubevirt.io/schedulable': 'true' };
  assert.deepEqual(selector({ model: 'host-passthrough' }), schedulable);
  assert.deepEqual(
    selector({
      model: 'Nehalem',
      features: [
        { name: 'aes' },
        { name: 'vmx', policy: 'require' },
        { name: 'mpx', policy: 'disable' },
        { name: 'apic', policy: 'optional' },
      ],
    }),
    {
      'cpu-model.node.kubevirt.io/Nehalem': 'true',
      'cpu-feature.node.kubevirt.io/aes': 'true',
      'cpu-feature.node.kubevirt.io/vmx': 'true',
      ...schedulable,
    },
  );
});

test('the pod goes where the VMI wants, on nodes that run VMs', () => {
  const affinity = { nodeAffinity: {} };
  const tolerations = [{ key: 'a', operator: 'Exists' as const }];
  const topologySpreadConstraints = [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const },
  ];
  const spec = specOf(
    vmi({
      nodeSelector: { disk: 'ssd' },
      architecture: 'amd64',
      affinity,
      tolerations,
      topologySpreadConstraints,
      priorityClassName: 'high',
      schedulerName: 'mine',
    }),
  );
  assert.deepEqual(spec.nodeSelector, {
    disk: 'ssd',
    'kubernetes.io/arch': 'amd64',
    'kubevirt.io/schedulable': 'true',
  });
  assert.deepEqual(
    [
      spec.affinity,
      spec.tolerations,
      spec.topologySpreadConstraints,
      spec.priorityClassName,
      spec.schedulerName,
    ],
    [affinity, tolerations, topologySpreadConstraints, 'high', 'mine'],
  );
});

test('volumes: each kind becomes what the launcher finds at volumes/<name>', () => {
  const { volumes = [] } = specOf(
    vmi({
      volumes: [
        { name: 'disk', containerDisk: { image: 'example.org/disk' } },
        { name: 'empty', emptyDisk: { capacity: '1Gi' } },
        { name: 'seed-inline', cloudInitNoCloud: { userData: 'x' } },
        { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'user' } } },
        {
          name: 'seed-both',
          cloudInitConfigDrive: { secretRef: { name: 'user' }, networkDataSecretRef: { name: 'net' } },
        },
        { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'dv', dataVolume: { name: 'imported' } },
        { name: 'eph', ephemeral: { persistentVolumeClaim: { claimName: 'base' } } },
        { name: 'sec', secret: { secretName: 's', optional: true } },
        { name: 'conf', configMap: { name: 'c' } },
        { name: 'prep', sysprep: { configMap: { name: 'answers' } } },
        { name: 'host', hostDisk: { path: '/data/disk.img', type: 'DiskOrCreate' } },
      ],
    }),
  );
  assert.deepEqual(volumes, [
    { name: 'nativirt-private', emptyDir: {} },
    { name: 'nativirt-image-holder', emptyDir: {} },
    { name: 'seed', secret: { secretName: 'user' } },
    {
      name: 'seed-both',
      projected: { sources: [{ secret: { name: 'user' } }, { secret: { name: 'net' } }] },
    },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'dv', persistentVolumeClaim: { claimName: 'imported' } },
    { name: 'eph', persistentVolumeClaim: { claimName: 'base', readOnly: true } },
    { name: 'sec', secret: { secretName: 's', optional: true } },
    { name: 'conf', configMap: { name: 'c' } },
    { name: 'prep', configMap: { name: 'answers' } },
    { name: 'host', hostPath: { path: '/data', type: 'DirectoryOrCreate' } },
  ]);
});

test('filesystem volumes are mounted where the pod directory has them, block volumes are devices', () => {
  const volumes = [
    { name: 'a', persistentVolumeClaim: { claimName: 'a' } },
    { name: 'b', persistentVolumeClaim: { claimName: 'b' } },
  ];
  const [container] = specOf(vmi({ volumes }), new Set(['b'])).containers;
  assert.deepEqual(container?.volumeMounts, [
    { name: 'nativirt-private', mountPath: '/var/run/nativirt' },
    { name: 'a', mountPath: '/var/run/nativirt/volumes/a' },
  ]);
  assert.deepEqual(container.volumeDevices, [{ name: 'b', devicePath: '/dev/nativirt/b' }]);
});

test('images come in containers of their own, with their pull policies and secrets', () => {
  const kernelBoot = { container: { image: 'example.org/kernel:2', imagePullSecret: 'k' } };
  const spec = specOf(
    vmi({
      domain: { devices: {}, memory: { guest: '1Gi' }, firmware: { kernelBoot } },
      volumes: [
        { name: 'root', containerDisk: { image: 'example.org:5000/disk', imagePullSecret: 's' } },
        { name: 'pinned', containerDisk: { image: 'example.org/disk@sha256:00' } },
        { name: 'never', containerDisk: { image: 'example.org/disk:1', imagePullPolicy: 'Never' } },
      ],
    }),
  );
  assert.deepEqual(
    spec.containers.slice(1).map(({ name, image, imagePullPolicy }) => [name, image, imagePullPolicy]),
    [
      ['kernel-boot', 'example.org/kernel:2', 'IfNotPresent'],
      ['volumeroot', 'example.org:5000/disk', 'Always'],
      ['volumepinned', 'example.org/disk@sha256:00', 'IfNotPresent'],
      ['volumenever', 'example.org/disk:1', 'Never'],
    ],
  );
  assert.deepEqual(spec.imagePullSecrets, [{ name: 's' }, { name: 'k' }]);
  assert.equal(spec.shareProcessNamespace, true);
  assert.deepEqual(spec.initContainers?.[0]?.command, [
    'cp',
    '/usr/lib/nativirt/image-holder',
    '/nativirt-image-holder/image-holder',
  ]);
  const root = spec.containers.find(({ name }) => name === 'volumeroot');
  assert.deepEqual([root?.command, root?.args], [['/nativirt-image-holder/image-holder'], ['volumeroot']]);
});

test('without images there is nothing to hold, and each container has its own processes', () => {
  const spec = specOf(vmi());
  assert.equal(spec.initContainers, undefined);
  assert.equal(spec.shareProcessNamespace, undefined);
});

test('the launcher is told whom it runs, and may emulate only where the configuration allows it', () => {
  const container = compute(vmi());
  assert.deepEqual(container.command, ['nativirt', 'launcher']);
  assert.deepEqual(container.args, [
    '--pod-dir=/var/run/nativirt',
    '--namespace=team',
    '--name=web',
    '--uid=3f2a',
    '--termination-message=/dev/termination-log',
    '--require-kvm',
  ]);
  const { spec } = launcherPod(vmi(), emulating);
  assert.equal(spec?.containers[0]?.args?.includes('--require-kvm'), false);
});

test('devices of the node: KVM unless emulation is allowed, a tun device for a network', () => {
  const devicesOf = (instance: VirtualMachineInstance, of = settings): unknown =>
    Object.fromEntries(
      Object.entries(launcherPod(instance, of).spec?.containers[0]?.resources?.limits ?? {}).filter(
        ([name]) => name.startsWith('devices.'),
      ),
    );
  const [kvm, tun, vhost] = ['kvm', 'tun', 'vhost-net'].map((name) => `devices.kubevirt.io/${name}`);
  const domain = (devices: object) => vmi({ domain: { devices, memory: { guest: '1Gi' } } });
  assert.deepEqual(devicesOf(vmi()), { [`${kvm}`]: 1, [`${tun}`]: 1, [`${vhost}`]: 1 });
  assert.deepEqual(devicesOf(domain({ interfaces: [{ name: 'default', model: 'e1000' }] })), {
    [`${kvm}`]: 1,
    [`${tun}`]: 1,
  });
  assert.deepEqual(devicesOf(domain({ autoattachPodInterface: false })), { [`${kvm}`]: 1 });
  assert.deepEqual(devicesOf(vmi(), emulating), { [`${tun}`]: 1 });
  assert.deepEqual(devicesOf(vmi(), { ...settings, devicePlugins: false }), {});
});

test('processors of its own: the pod is Guaranteed, with all its containers', () => {
  const spec = specOf(
    vmi({
      domain: { devices: {}, cpu: { cores: 2, dedicatedCpuPlacement: true }, memory: { guest: '1Gi' } },
      volumes: [{ name: 'root', containerDisk: { image: 'example.org/disk:1' } }],
    }),
  );
  for (const { name, resources } of [...spec.containers, ...(spec.initContainers ?? [])])
    for (const resource of ['cpu', 'memory'])
      assert.equal(resources?.limits?.[resource], resources?.requests?.[resource], `${name}: ${resource}`);
});

test('an ordinary user without capabilities, new privileges or unusual system calls', () => {
  const spec = specOf(vmi({ volumes: [{ name: 'root', containerDisk: { image: 'example.org/disk:1' } }] }));
  assert.equal(spec.securityContext?.runAsNonRoot, true);
  assert.equal(spec.securityContext.fsGroup, 107);
  assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' });
  assert.equal(spec.automountServiceAccountToken, false);
  for (const { securityContext } of [...spec.containers, ...(spec.initContainers ?? [])]) {
    assert.equal(securityContext?.runAsUser, 107);
    assert.equal(securityContext.allowPrivilegeEscalation, false);
    assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
  }
});

test('probes of the network are the kubelet’s, those of the agent are made in the container', () => {
  const container = compute(
    vmi({
      livenessProbe: { guestAgentPing: {}, periodSeconds: 5 },
      readinessProbe: { httpGet: { port: 80 }, failureThreshold: 2 },
    }),
  );
  assert.deepEqual(container.readinessProbe, { httpGet: { port: 80 }, failureThreshold: 2 });
  assert.equal(container.livenessProbe?.periodSeconds, 5);
  assert.deepEqual(container.livenessProbe.exec?.command?.slice(0, 2), ['nativirt', 'launcher']);
  const asked = compute(
    vmi({ readinessProbe: { exec: { command: ['test', '-e', '/ready'] }, timeoutSeconds: 3 } }),
  );
  assert.deepEqual(asked.readinessProbe?.exec?.command?.slice(-5), ['--probe', '--', 'test', '-e', '/ready']);
  assert.ok(asked.readinessProbe.exec.command.includes('--probe-timeout=3'));
});

test('a token that the guest is given is of the account that its volume names', () => {
  const spec = specOf(vmi({ volumes: [{ name: 'sa', serviceAccount: { serviceAccountName: 'reader' } }] }));
  assert.equal(spec.serviceAccountName, 'reader');
});

test('the pod outlasts its guest: its grace period is longer', () => {
  assert.equal(launcherGracePeriod(vmi()), 45);
  assert.equal(specOf(vmi({ terminationGracePeriodSeconds: 0 })).terminationGracePeriodSeconds, 15);
  assert.equal(specOf(vmi()).restartPolicy, 'Never');
});
