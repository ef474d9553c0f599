/** How far CPUs and memory may grow is settled when the guest starts: QEMU reserves slots and address space for it. */
import { compareQuantities } from '../../../../openapi/quantity.js';
import { invalid } from '../../causes.js';
import type { UpdateRule } from './rule.js';

export const maximumSockets: UpdateRule = ({ vmi, old, at }) => {
  const [after = 0, before = 0] = [vmi.spec.domain.cpu?.maxSockets, old.spec.domain.cpu?.maxSockets];
  if (after === before) return [];
  return [
    invalid(
      at.child('domain', 'cpu', 'maxSockets'),
      `${after} must stay ${before} while the guest runs: change the VirtualMachine and restart it`,
    ),
  ];
};

export const maximumMemory: UpdateRule = ({ vmi, old, at }) => {
  const [after, before] = [vmi.spec.domain.memory?.maxGuest, old.spec.domain.memory?.maxGuest];
  if (after === undefined || before === undefined || compareQuantities(after, before) === 0) return [];
  return [
    invalid(
      at.child('domain', 'memory', 'maxGuest'),
      `${after} must stay ${before} while the guest runs: change the VirtualMachine and restart it`,
    ),
  ];
};
