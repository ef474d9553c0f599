import type { DomainStatus } from '../../openapi/launcher/protocol.js';

/** A launcher's status before it has a VMI, with changes. */
export function domainStatus(changes: Partial<DomainStatus>): DomainStatus {
  return {
    sequence: 1,
    state: 'Waiting',
    reason: 'Waiting',
    message: 'waiting for a virtual machine instance',
    uid: undefined,
    qemuPid: undefined,
    accelerator: undefined,
    machineType: undefined,
    qemuVersion: undefined,
    guestAgentConnected: false,
    guest: undefined,
    ...changes,
  };
}
