/** Whether a disk can be added to a running guest. */
import type { Disk } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { invalid, unknownWord, type FieldPath } from '../causes.js';

/** Buses whose controllers take disks while the guest runs, by how the guest sees the disk. A CD-ROM drive can not be added at all. */
const hotplugBuses = { disk: ['scsi', 'virtio'], lun: ['scsi'] } as const;

/** `place` is the disk's. */
export function hotplugDiskCauses(disk: Disk, place: FieldPath): StatusCause[] {
  const target = (['disk', 'lun'] as const).find((each) => disk[each] !== undefined);
  if (target === undefined) return [invalid(place, 'only a disk or a lun can be added to a running guest')];
  const bus = disk[target]?.bus ?? '';
  const buses: readonly string[] = hotplugBuses[target];
  const causes: StatusCause[] = [];
  if (!buses.includes(bus)) {
    causes.push(
      invalid(
        place.child(target, 'bus'),
        `a ${target} that is added to a running guest needs another bus: ${unknownWord(bus, buses)}`,
      ),
    );
  }
  if (disk.dedicatedIOThread === true && bus !== 'virtio') {
    causes.push(invalid(place.child('dedicatedIOThread'), 'works on the virtio bus only'));
  }
  if (disk.bootOrder !== undefined && disk.bootOrder < 1) {
    causes.push(invalid(place.child('bootOrder'), `${disk.bootOrder} must be at least 1`));
  }
  return causes;
}
