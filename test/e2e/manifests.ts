import { guestDisk } from './harness.js';

export interface MachineOptions {
  readonly name: string;
  readonly runStrategy?: string;
  readonly image?: string;
  readonly graceSeconds?: number;
  readonly userData?: string;
  readonly memory?: string;
  readonly cpuRequest?: string;
  readonly accessCredentials?: readonly object[];
  readonly panicDevices?: readonly object[];
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: Record<string, unknown>;
}

/** A small VM with the test guest's disk. */
export function virtualMachine(options: MachineOptions): Manifest {
  const {
    name,
    runStrategy = 'Always',
    image = guestDisk,
    graceSeconds = 30,
    userData,
    memory = '192Mi',
    cpuRequest = '50m',
    accessCredentials,
    panicDevices,
  } = options;
  const disks = ['root', ...(userData === undefined ? [] : ['seed'])];
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: 'default' },
    spec: {
      runStrategy,
      template: {
        metadata: { labels: { 'kubevirt.io/vm': name } },
        spec: {
          terminationGracePeriodSeconds: graceSeconds,
          domain: {
            memory: { guest: memory },
            resources: { requests: { cpu: cpuRequest } },
            devices: {
              disks: disks.map((disk) => ({ name: disk, disk: { bus: 'virtio' } })),
              rng: {},
              ...(panicDevices === undefined ? {} : { panicDevices }),
            },
          },
          ...(accessCredentials === undefined ? {} : { accessCredentials }),
          volumes: [
            { name: 'root', containerDisk: { image } },
            ...(userData === undefined ? [] : [{ name: 'seed', cloudInitNoCloud: { userData } }]),
          ],
        },
      },
    },
  };
}
