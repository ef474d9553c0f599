/** `status.volumeStatus`, as far as it is known before the guest runs: what claims give. */
import type { PersistentVolumeClaim } from '../../openapi/generated/types/core_v1.js';
import type {
  PersistentVolumeClaimInfo,
  VirtualMachineInstance,
  VolumeStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';

/** `claims`: by volume name. Volumes that come from no claim are the node agent's to report. */
export function nextVolumeStatus(
  vmi: VirtualMachineInstance,
  claims: ReadonlyMap<string, PersistentVolumeClaim>,
): VolumeStatus[] | undefined {
  const before = vmi.status?.volumeStatus ?? [];
  const known = new Set(before.map(({ name }) => name));
  const updated = before.map((status) => {
    const claim = claims.get(status.name);
    return claim === undefined ? status : { ...status, persistentVolumeClaimInfo: claimInfo(claim) };
  });
  const added = [...claims]
    .filter(([name]) => !known.has(name))
    .map(([name, claim]) => ({ name, target: '', persistentVolumeClaimInfo: claimInfo(claim) }));
  const all = [...updated, ...added];
  return all.length === 0 ? undefined : all;
}

function claimInfo({ metadata, spec, status }: PersistentVolumeClaim): PersistentVolumeClaimInfo {
  const accessModes = status?.accessModes ?? spec?.accessModes;
  const requests = spec?.resources?.requests;
  return {
    claimName: metadata.name,
    volumeMode: spec?.volumeMode ?? 'Filesystem',
    ...(accessModes === undefined ? {} : { accessModes }),
    ...(requests === undefined ? {} : { requests }),
    ...(status?.capacity === undefined ? {} : { capacity: status.capacity }),
  };
}
