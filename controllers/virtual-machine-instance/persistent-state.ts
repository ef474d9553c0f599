/** Makes the claim of persistent TPM and EFI state, once. It belongs to the VM, so that the next instance finds it; to the VMI where there is none. */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { persistentStateClaim } from '../launcher-pod/persistent-state.js';
import type { Client } from '../runtime/client.js';
import { isAlreadyExists } from '../runtime/errors.js';
import type { Informer } from '../runtime/informer.js';
import { persistentVolumeClaims } from '../runtime/kinds.js';
import { controllerOf, controllerReference } from '../runtime/writes.js';

/** EFI variables and a TPM's state take less than half of it. */
const size = '10Mi';

export class PersistentState {
  constructor(
    private readonly client: Client,
    private readonly claims: Informer<PersistentVolumeClaim>,
  ) {}

  /** Resolves when the claim is there, or none is needed. */
  async ensure(
    vmi: VirtualMachineInstance,
    configuration: KubeVirtConfiguration,
    signal: AbortSignal,
  ): Promise<void> {
    const name = persistentStateClaim(vmi);
    const { namespace } = vmi.metadata;
    if (name === undefined || this.claims.get({ namespace, name }) !== undefined) return;
    try {
      await this.client.create(persistentVolumeClaims, newClaim(vmi, name, configuration), signal);
    } catch (error) {
      // The informer lags behind, or somebody has brought a state of their own.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

function newClaim(
  vmi: VirtualMachineInstance,
  name: string,
  { vmStateStorageClass }: KubeVirtConfiguration,
): New<PersistentVolumeClaim> {
  const { namespace } = vmi.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { 'persistent-state-for': vmi.metadata.name.slice(0, 63) },
      ownerReferences: [controllerOf(vmi) ?? controllerReference(vmi)],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      resources: { requests: { storage: size } },
      ...(vmStateStorageClass === undefined ? {} : { storageClassName: vmStateStorageClass }),
    },
  };
}
