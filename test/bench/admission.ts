/**
 * What admission costs of this process's CPU: defaults, schema and rules of one create, without decoding before and storing after.
 * VMs and VMIs, typical ones and with 200 disks.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createAdmissionChain } from '../../apiserver/admission/chain.js';
import { defaultConfiguration } from '../../apiserver/admission/configuration/defaults.js';
import { admissionPlugins } from '../../apiserver/admission/plugins.js';
import { createAdmitter, type Admitter } from '../../apiserver/registry/admit.js';
import { startRegistry } from '../../apiserver/registry/testing/fixture.js';
import type { Endpoint } from '../../apiserver/registry/endpoint.js';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { milliseconds, percentile, table } from './table.js';

const rounds = 15;
const cases = [
  { disks: 3, warmUps: 1500, perRound: 100 },
  { disks: 200, warmUps: 200, perRound: 20 },
];

const metadata = {
  name: 'bench',
  namespace: 'default',
  uid: '5d307ca9-b3ef-428c-8861-06e72d69f223',
  resourceVersion: '1',
  creationTimestamp: '2026-01-02T03:04:05Z',
  labels: { app: 'bench' },
};

function specWith(disks: number): VirtualMachineInstanceSpec {
  const claims = Array.from({ length: disks - 2 }, (_, index) => `data-${index}`);
  return {
    domain: {
      cpu: { cores: 2, sockets: 1, threads: 1 },
      memory: { guest: '2Gi' },
      resources: { requests: { cpu: '500m', memory: '2Gi' } },
      devices: {
        disks: ['root', 'seed', ...claims].map((name) => ({ name, disk: { bus: 'virtio' } })),
        interfaces: [{ name: 'default', masquerade: {}, ports: [{ port: 22 }, { port: 80 }] }],
        rng: {},
      },
    },
    networks: [{ name: 'default', pod: {} }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ key: 'virtual-machines', operator: 'Exists', effect: 'NoSchedule' }],
    terminationGracePeriodSeconds: 30,
    volumes: [
      { name: 'root', containerDisk: { image: 'registry.example.com/images/base:1.2.3' } },
      { name: 'seed', cloudInitNoCloud: { userData: `#cloud-config\n${'# filler\n'.repeat(40)}` } },
      ...claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
    ],
  };
}

const instance = (disks: number): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata,
  spec: specWith(disks),
});

const machine = (disks: number): VirtualMachine => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata,
  spec: { runStrategy: 'Always', template: { spec: specWith(disks) } },
});

/** CPU milliseconds of admitting one: the median and the worst of the rounds. */
async function measure(
  admitter: Admitter,
  endpoint: Endpoint,
  object: KubernetesObject,
  { warmUps, perRound }: (typeof cases)[number],
): Promise<{ readonly median: number; readonly worst: number }> {
  const context = {
    endpoint,
    version: 'v1',
    namespace: 'default',
    subresource: undefined,
    user: { name: 'bench', groups: [], extra: {} },
    dryRun: false,
    manager: 'bench',
    warn: () => undefined,
  };
  const admit = async (count: number): Promise<number> => {
    // Admission changes what it gets.
    const objects = Array.from({ length: count }, () => structuredClone(object));
    const before = process.cpuUsage();
    for (const each of objects) await admitter.create(context, each);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / count;
  };
  await admit(warmUps);
  const figures: number[] = [];
  for (let round = 0; round < rounds; round++) figures.push(await admit(perRound));
  figures.sort((a, b) => a - b);
  return { median: percentile(figures, 0.5), worst: percentile(figures, 1) };
}

export async function benchAdmission(): Promise<string> {
  const fixture = await startRegistry();
  try {
    const admitter = createAdmitter({
      admission: createAdmissionChain(
        admissionPlugins({
          isComponent: () => false,
          nodeAgentOf: () => undefined,
          uuid: randomUUID,
          randomBytes,
          now: () => new Date().toISOString(),
        }),
      ),
      lookups: { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) },
      configuration: () => defaultConfiguration,
    });
    const rows: string[][] = [];
    for (const [plural, make] of Object.entries({
      virtualmachines: machine,
      virtualmachineinstances: instance,
    })) {
      const endpoint = fixture.registry.endpoint('kubevirt.io', plural);
      if (endpoint === undefined) throw new Error(`the registry has no ${plural}`);
      for (const each of cases) {
        const { median, worst } = await measure(admitter, endpoint, make(each.disks), each);
        rows.push([`${plural}, ${each.disks} disks`, milliseconds(median), milliseconds(worst)]);
      }
    }
    return table(['admission of', 'CPU ms (median)', 'CPU ms (worst)'], rows);
  } finally {
    await fixture.close();
  }
}
