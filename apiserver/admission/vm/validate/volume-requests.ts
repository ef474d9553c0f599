/** Requests in a VM's status to add and remove volumes: that they fit each other, the template, and the instance that runs. */
import type {
  AddVolumeOptions,
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineVolumeRequest,
  Volume,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { asPlugged, requestedVolume, withVolumeRequests } from '../../../../openapi/volume-requests.js';
import { sameJson } from '../../../registry/equal.js';
import { FieldPath, invalid, notSupported } from '../../causes.js';
import type { AdmissionContext } from '../../interface.js';
import { hotplugDiskCauses } from '../../vmi/hotplug-disk.js';
import { specCauses } from '../../vmi/validate/spec.js';

export async function volumeRequestCauses(
  vm: VirtualMachine,
  { configuration, lookups }: AdmissionContext,
): Promise<StatusCause[]> {
  const requests = vm.status?.volumeRequests ?? [];
  if (requests.length === 0) return [];
  const { namespace, name } = vm.metadata;
  const found =
    vm.status?.ready === true
      ? await lookups.get<VirtualMachineInstance>('kubevirt.io', 'virtualmachineinstances', namespace, name)
      : undefined;
  const vmi = found?.metadata.deletionTimestamp === undefined ? found : undefined;
  const faults = requestCauses(requests, vm, vmi);
  return faults.length > 0 ? faults : outcomeCauses(requests, vm, vmi, configuration);
}

function requestCauses(
  requests: readonly VirtualMachineVolumeRequest[],
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): StatusCause[] {
  const seen = new Set<string>();
  return requests.flatMap(({ addVolumeOptions: add, removeVolumeOptions: remove }, index) => {
    const place = FieldPath.of('status').child('volumeRequests').index(index);
    const [only, ...others] = [
      ...(add === undefined ? [] : [{ verb: 'addVolumeOptions', name: add.name }]),
      ...(remove === undefined ? [] : [{ verb: 'removeVolumeOptions', name: remove.name }]),
    ];
    if (only === undefined || others.length > 0)
      return [invalid(place, 'must have one of addVolumeOptions and removeVolumeOptions')];
    const key = `${only.verb} ${only.name}`;
    if (seen.has(key)) return [invalid(place.child(only.verb, 'name'), `${only.name} is requested twice`)];
    seen.add(key);
    return add === undefined ? [] : additionCauses(add, place.child('addVolumeOptions'), vm, vmi);
  });
}

function additionCauses(
  add: AddVolumeOptions,
  place: FieldPath,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
): StatusCause[] {
  const causes = hotplugDiskCauses(add.disk, place.child('disk'));
  const wanted = requestedVolume(add);
  const conflict = (where: string): StatusCause =>
    invalid(place.child('name'), `${where} has another volume that is named ${JSON.stringify(add.name)}`);
  const differs = (volumes: readonly Volume[] | undefined): boolean =>
    (volumes ?? []).some((volume) => volume.name === add.name && !sameJson(asPlugged(volume), wanted));
  if (differs(vm.spec.template.spec?.volumes)) causes.push(conflict('the template'));
  if (differs(vmi?.spec.volumes)) causes.push(conflict('the running instance'));
  return causes;
}

/** What the requests make of template and instance must be admissible too. */
function outcomeCauses(
  requests: readonly VirtualMachineVolumeRequest[],
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  const at = FieldPath.of('spec');
  const { spec } = vm.spec.template;
  const inTemplate = at.child('template', 'spec');
  const causes =
    spec === undefined ? [] : specCauses(withVolumeRequests(spec, requests), inTemplate, configuration);
  if (causes.length > 0 || vmi === undefined) return causes;
  causes.push(...specCauses(withVolumeRequests(vmi.spec, requests), inTemplate, configuration));
  if (isMigrating(vmi))
    causes.push(notSupported(at, 'volumes can be added and removed again when the migration has ended'));
  return causes;
}

function isMigrating({ status }: VirtualMachineInstance): boolean {
  const { startTimestamp, endTimestamp } = status?.migrationState ?? {};
  return startTimestamp !== undefined && endTimestamp === undefined;
}
