/** Follows a machine's objects and tells each change of state. */
import { isExpired } from '../../controllers/runtime/errors.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { events, virtualMachineInstances, virtualMachines } from '../../controllers/runtime/kinds.js';
import type { Kind } from '../../controllers/runtime/client.js';
import type { Event } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';

/** Every state of an object, beginning with those that are there, until the signal. */
export async function follow<T extends KubernetesObject>(
  client: HttpClient,
  kind: Kind<T>,
  namespace: string,
  onObject: (object: T) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const list = await client.list(kind, { namespace }, signal);
    list.items.forEach(onObject);
    let resourceVersion = list.metadata.resourceVersion ?? '';
    try {
      // A watch ends now and then; the next one begins where it ended.
      while (!signal.aborted) {
        for await (const event of client.watch(kind, { namespace, resourceVersion }, signal)) {
          if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion;
          else {
            resourceVersion = event.object.metadata.resourceVersion;
            if (event.type !== 'DELETED') onObject(event.object);
          }
        }
      }
    } catch (error) {
      if (!isExpired(error)) throw error;
    }
  }
}

export interface MachineListener {
  /** `Provisioning`, `Starting`, `Running` … */
  onStatus(status: string): void;
  onPhase(phase: string, instance: VirtualMachineInstance): void;
  onEvent(event: Event): void;
}

/** Tells each status, phase and event once, in the order in which they come; runs until the signal. */
export async function watchMachine(
  client: HttpClient,
  namespace: string,
  name: string,
  listener: MachineListener,
  signal: AbortSignal,
): Promise<void> {
  let status = '';
  let phase = '';
  const told = new Set<string>();
  const onMachine = (vm: VirtualMachine): void => {
    const now = vm.status?.printableStatus ?? '';
    if (vm.metadata.name !== name || now === '' || now === status) return;
    status = now;
    listener.onStatus(now);
  };
  const onInstance = (vmi: VirtualMachineInstance): void => {
    const now = vmi.status?.phase ?? '';
    if (vmi.metadata.name !== name || now === '' || now === phase) return;
    phase = now;
    listener.onPhase(now, vmi);
  };
  const onEvent = (event: Event): void => {
    const key = `${event.reason ?? ''}: ${event.message ?? ''}`;
    if (event.involvedObject.name?.includes(name) !== true || told.has(key)) return;
    told.add(key);
    listener.onEvent(event);
  };
  await Promise.all([
    follow(client, virtualMachines, namespace, onMachine, signal),
    follow(client, virtualMachineInstances, namespace, onInstance, signal),
    follow(client, events, namespace, onEvent, signal),
  ]);
}
