/** Numbers of things can not be negative. */
import type { VirtualMachineInstanceSpec } from '../../../../openapi/generated/types/kubevirt_v1.js';
import { invalid } from '../../causes.js';
import type { SpecRule } from './rule.js';

type Domain = VirtualMachineInstanceSpec['domain'];

const counts: readonly {
  readonly field: readonly string[];
  readonly get: (domain: Domain) => number | undefined;
}[] = [
  ...(['cores', 'sockets', 'threads', 'maxSockets'] as const).map((name) => ({
    field: ['cpu', name],
    get: ({ cpu }: Domain) => cpu?.[name],
  })),
  {
    field: ['ioThreads', 'supplementalPoolThreadCount'],
    get: ({ ioThreads }) => ioThreads?.supplementalPoolThreadCount,
  },
  {
    field: ['features', 'hyperv', 'spinlocks', 'spinlocks'],
    get: ({ features }) => features?.hyperv?.spinlocks?.spinlocks,
  },
];

/** Boot orders and block sizes have rules of their own. */
export const negativeCounts: SpecRule = ({ spec, at }) =>
  counts.flatMap(({ field, get }) => {
    const count = get(spec.domain);
    return count === undefined || count >= 0
      ? []
      : [invalid(at.child('domain', ...field), `${count} must not be negative`)];
  });
