/** CPU topology, features, dedicated placement, NUMA, realtime. */
import type { CPU } from '../../../../openapi/generated/types/kubevirt_v1.js';
import { invalid, notSupported, required, unknownWord } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import { guestMemory, limited, requested } from './resources.js';
import type { SpecRule } from './rule.js';

const featurePolicies = ['force', 'require', 'optional', 'disable', 'forbid'];
const nanosPerCpu = 1_000_000_000n;

/** Cores, sockets and threads that are not set count as one, unless none of them is. */
function vcpus(cpu: CPU): bigint {
  const counts = [cpu.cores ?? 0, cpu.sockets ?? 0, cpu.threads ?? 0];
  if (counts.every((count) => count === 0)) return 0n;
  return counts.reduce((product, count) => product * BigInt(count === 0 ? 1 : count), 1n);
}

/** Whole CPUs, rounded up as a quantity's value is. */
const wholeCpus = (nanos: bigint): bigint => (nanos + nanosPerCpu - 1n) / nanosPerCpu;

export const cpuFeatures: SpecRule = ({ spec, at }) =>
  (spec.domain.cpu?.features ?? []).flatMap(({ name, policy = '' }, index) =>
    policy === '' || featurePolicies.includes(policy)
      ? []
      : [
          notSupported(
            at.child('domain', 'cpu', 'features').index(index).child('policy'),
            `policy of CPU feature ${name}: ${unknownWord(policy, featurePolicies)}`,
          ),
        ],
  );

export const cpuSockets: SpecRule = ({ spec, at }) => {
  const { sockets = 0, maxSockets = 0 } = spec.domain.cpu ?? {};
  if (maxSockets === 0 || sockets <= maxSockets) return [];
  return [
    invalid(at.child('domain', 'cpu', 'sockets'), `${sockets} is greater than maxSockets, ${maxSockets}`),
  ];
};

export const isolatedEmulatorThread: SpecRule = ({ spec, at }) => {
  const { cpu } = spec.domain;
  if (cpu?.isolateEmulatorThread !== true || cpu.dedicatedCpuPlacement === true) return [];
  return [
    invalid(
      at.child('domain', 'cpu', 'isolateEmulatorThread'),
      'an emulator thread can be isolated only with dedicatedCpuPlacement: true',
    ),
  ];
};

export const dedicatedCpus: SpecRule = ({ spec, at, configuration }) => {
  const { cpu, memory, resources } = spec.domain;
  if (cpu?.dedicatedCpuPlacement !== true) return [];
  const field = at.child('domain', 'cpu', 'dedicatedCpuPlacement');
  const inResources = at.child('domain', 'resources');
  const causes = [];
  const [request, limit] = [requested(resources, 'cpu'), limited(resources, 'cpu')];
  const [memoryRequest, memoryLimit] = [requested(resources, 'memory'), limited(resources, 'memory')];
  const guest = guestMemory(memory?.guest);
  if (memoryRequest === 0n && memoryLimit === 0n && memory?.hugepages === undefined && guest === 0n) {
    causes.push(
      invalid(
        inResources.child('limits', 'memory'),
        'dedicated CPUs need memory: set domain.memory.guest, hugepages or a memory request or limit',
      ),
    );
  }
  if (request > 0n && request % nanosPerCpu !== 0n) {
    causes.push(
      invalid(inResources.child('requests', 'cpu'), 'dedicated CPUs are whole: must be an integer'),
    );
  }
  if (limit > 0n && limit % nanosPerCpu !== 0n) {
    causes.push(invalid(inResources.child('limits', 'cpu'), 'dedicated CPUs are whole: must be an integer'));
  }
  if (memoryRequest > 0n && memoryLimit > 0n && memoryRequest !== memoryLimit) {
    causes.push(
      invalid(
        inResources.child('requests', 'memory'),
        'with dedicated CPUs the memory request must equal the memory limit',
      ),
    );
  }
  const topology = vcpus(cpu);
  if (request === 0n && limit === 0n && topology === 0n) {
    causes.push(invalid(field, 'needs a number of CPUs: set domain.cpu.cores, or a CPU request or limit'));
  }
  if (request > 0n && limit > 0n && wholeCpus(request) !== wholeCpus(limit)) {
    causes.push(invalid(field, 'the CPU request must equal the CPU limit'));
  }
  if (
    (request > 0n || limit > 0n) &&
    topology > 0n &&
    wholeCpus(request) !== topology &&
    wholeCpus(limit) !== topology
  ) {
    causes.push(invalid(field, `the CPU request or limit must be that of the topology, ${topology}`));
  }
  const threads = cpu.threads ?? 0;
  const architecture = spec.architecture ?? configuration.architectureConfiguration?.defaultArchitecture;
  if (threads > 1 && architecture === 'arm64') {
    causes.push(invalid(at.child('architecture'), `arm64 cores have one thread, not ${threads}`));
  }
  if (threads > 2) causes.push(invalid(field, `dedicated cores have at most two threads, not ${threads}`));
  return causes;
};

export const numa: SpecRule = ({ spec, at, configuration }) => {
  const { cpu, memory } = spec.domain;
  if (cpu?.numa?.guestMappingPassthrough === undefined) return [];
  const field = at.child('domain', 'cpu', 'numa', 'guestMappingPassthrough');
  const causes = [];
  if (!featureEnabled(configuration, 'NUMA')) causes.push(invalid(field, 'needs the feature gate NUMA'));
  if (cpu.dedicatedCpuPlacement !== true)
    causes.push(invalid(field, 'needs domain.cpu.dedicatedCpuPlacement: true'));
  if (memory?.hugepages === undefined) causes.push(invalid(field, 'needs domain.memory.hugepages'));
  return causes;
};

export const realtime: SpecRule = ({ spec, at }) => {
  const { cpu } = spec.domain;
  if (cpu?.realtime === undefined) return [];
  const causes = [];
  if (cpu.dedicatedCpuPlacement !== true) {
    causes.push(
      required(at.child('domain', 'cpu', 'dedicatedCpuPlacement'), 'must be true for a realtime guest'),
    );
  }
  if (cpu.numa?.guestMappingPassthrough === undefined) {
    causes.push(
      required(
        at.child('domain', 'cpu', 'numa', 'guestMappingPassthrough'),
        'must be set for a realtime guest',
      ),
    );
  }
  return causes;
};
