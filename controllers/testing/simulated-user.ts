/** Who owns the VM of the tests: what users and the API's subresources do to it. */
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import type { FakeClient } from '../runtime/testing/fake-client.js';
import { guest } from './harness.js';

const key = { namespace: 'default', name: 'vm' };

export class SimulatedUser {
  #templates = 0;

  constructor(private readonly client: FakeClient) {}

  /** Needs a restart. */
  changeTemplate(): void {
    this.#templates += 1;
    this.respec({ template: { spec: { ...guest(), hostname: `host${this.#templates}` } } });
  }

  /** Needs none. */
  changeSelector(): void {
    this.#templates += 1;
    const spec = this.#vm?.spec.template.spec ?? guest();
    this.respec({ template: { spec: { ...spec, nodeSelector: { zone: `zone${this.#templates}` } } } });
  }

  /** One of `runStrategy` and `running` says how it is run. */
  respec(change: Partial<VirtualMachine['spec']>): void {
    this.#change(({ metadata, spec, ...vm }) => {
      const next = { ...spec, ...change };
      if (change.running !== undefined) delete next.runStrategy;
      if (change.runStrategy !== undefined) delete next.running;
      return { ...vm, metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 }, spec: next };
    });
  }

  request(what: 'Start' | 'Stop' | 'Restart'): void {
    const uid = this.client.find(virtualMachineInstances, key)?.metadata.uid;
    if (what !== 'Start' && uid === undefined) return;
    const stop = uid === undefined || what === 'Start' ? [] : [{ action: 'Stop', uid }];
    const start = what === 'Stop' ? [] : [{ action: 'Start' }];
    this.#change(({ status, ...vm }) => ({
      ...vm,
      status: { ...status, stateChangeRequests: [...stop, ...start] },
    }));
  }

  askForVolume(): void {
    const addVolumeOptions = {
      name: 'data',
      disk: { name: 'data', disk: { bus: 'scsi' as const } },
      volumeSource: { persistentVolumeClaim: { claimName: 'data' } },
    };
    this.#change(({ status, ...vm }) => ({
      ...vm,
      status: { ...status, volumeRequests: [{ addVolumeOptions }] },
    }));
  }

  get #vm(): VirtualMachine | undefined {
    return this.client.find(virtualMachines, key);
  }

  #change(change: (vm: VirtualMachine) => VirtualMachine): void {
    if (this.#vm !== undefined) this.client.put(virtualMachines, key, change);
  }
}
