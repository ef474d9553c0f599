import { text, type JsonObject } from './qmp/messages.js';

/** Why a guest is paused. */
export interface StopCause {
  readonly reason: string;
  readonly message: string;
}

export const pausedByUser: StopCause = {
  reason: 'PausedByUser',
  message: 'The guest is paused, as requested.',
};

export const stoppedByQemu: StopCause = { reason: 'Paused', message: 'QEMU stopped the guest.' };

/** @param data of QEMU's BLOCK_IO_ERROR event */
export function ioError(data: JsonObject): StopCause {
  const drive = text(data['node-name']).replace(/^drive-/, '');
  if (data['nospace'] === true) {
    return {
      reason: 'DiskFull',
      message: `The guest is paused because there is no space left on the node for its disk ${drive}. Free space, then unpause it.`,
    };
  }
  return {
    reason: 'IOError',
    message: `The guest is paused because its disk ${drive} failed: ${text(data['reason'])}. Unpause it when the disk works again.`,
  };
}
