/** What the API benchmarks store: VMIs of about 5.2 kB. */

export const collection = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';

/** A realistic spec; what a status would hold is an annotation, so that it is written with the object. One label in twenty is `app-N`. */
export function instance(name: string, index: number): object {
  const disks = ['root', 'data', 'seed'];
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      labels: { app: `app-${index % 20}`, 'kubevirt.io/vm': name },
      annotations: {
        'bench/status': JSON.stringify(
          Array.from({ length: 28 }, (_, n) => ({ type: `Condition${n}`, status: 'True', reason: 'Bench' })),
        ),
      },
    },
    spec: {
      domain: {
        cpu: { cores: 2, sockets: 1, threads: 1 },
        memory: { guest: '2Gi' },
        resources: { requests: { cpu: '500m', memory: '2Gi' } },
        devices: {
          disks: disks.map((disk) => ({ name: disk, disk: { bus: 'virtio' } })),
          interfaces: [{ name: 'default', masquerade: {} }],
          rng: {},
        },
      },
      networks: [{ name: 'default', pod: {} }],
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: Array.from({ length: 4 }, (_, n) => ({
        key: `key-${n}`,
        operator: 'Exists',
        effect: 'NoSchedule',
      })),
      volumes: [
        { name: 'root', containerDisk: { image: 'registry.example.com/images/base:1.2.3' } },
        { name: 'data', persistentVolumeClaim: { claimName: `data-${index}` } },
        {
          name: 'seed',
          cloudInitNoCloud: { userData: `#cloud-config\nhostname: ${name}\n${'# filler\n'.repeat(40)}` },
        },
      ],
    },
  };
}
