import { podLayout } from '../../openapi/launcher/protocol.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { device, express, option, type MachineContext, type Part } from './model.js';

/** A directory of the pod that the guest mounts by `tag`, served by a virtiofsd on `socket`. */
export interface SharedDirectory {
  readonly tag: string;
  readonly directory: string;
  readonly socket: string;
}

const queueSize = 1024;

export function sharedDirectories({ spec }: Pick<VirtualMachineInstance, 'spec'>): SharedDirectory[] {
  return (spec.domain.devices.filesystems ?? []).map(({ name }, index) => ({
    tag: name,
    directory: `${podLayout.volumes}/${name}`,
    // By number: a name may be longer than the path of a socket.
    socket: `${podLayout.qemu}/virtiofs${index}.sock`,
  }));
}

export function filesystemParts({ vmi }: MachineContext): Part[] {
  return sharedDirectories(vmi).flatMap(({ tag, socket }, index) => [
    option('chardev', `socket,id=virtiofs${index},path=${socket}`),
    device('vhost-user-fs-pci', `fs-${tag}`, express('filesystem'), {
      chardev: `virtiofs${index}`,
      tag,
      'queue-size': queueSize,
    }),
  ]);
}
