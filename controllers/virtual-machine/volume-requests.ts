/** Carries what `status.volumeRequests` asks for into the VM's template; from there it is done as any change of the template is. */
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { isCarriedOut, withVolumeRequests } from '../../openapi/volume-requests.js';
import { reasons } from '../constants.js';
import type { Client } from '../runtime/client.js';
import { StatusError } from '../runtime/errors.js';
import { virtualMachines } from '../runtime/kinds.js';
import type { Failure } from './status.js';

type Requests = NonNullable<NonNullable<VirtualMachine['status']>['volumeRequests']>;

export type Carried =
  | { readonly kind: 'none' }
  | { readonly kind: 'rewritten'; readonly vm: VirtualMachine }
  /** The template can not be so. `error` is to be thrown once the status tells of it. */
  | { readonly kind: 'refused'; readonly failure: Failure; readonly error: Error };

/** Those that the template does not show yet. */
export function openVolumeRequests({ spec, status }: VirtualMachine): Requests {
  return (status?.volumeRequests ?? []).filter((request) => !isCarriedOut(request, spec.template.spec));
}

export async function carryVolumeRequests(
  client: Client,
  vm: VirtualMachine,
  signal: AbortSignal,
): Promise<Carried> {
  const open = openVolumeRequests(vm);
  const { spec } = vm.spec.template;
  if (open.length === 0 || spec === undefined) return { kind: 'none' };
  const { volumes, domain } = withVolumeRequests(spec, open);
  const template = { spec: { volumes, domain: { devices: { disks: domain.devices.disks } } } };
  const { uid, resourceVersion } = vm.metadata;
  const body = { metadata: { uid, resourceVersion }, spec: { template } };
  try {
    const written = await client.patch(
      virtualMachines,
      vm.metadata,
      { type: 'merge', body },
      undefined,
      signal,
    );
    return { kind: 'rewritten', vm: written };
  } catch (error) {
    if (!(error instanceof StatusError) || error.code >= 500 || error.reason === 'Conflict') throw error;
    const message = `could not add or remove volumes: ${error.message}`;
    return { kind: 'refused', failure: { reason: reasons.hotplugVolumeError, message }, error };
  }
}
