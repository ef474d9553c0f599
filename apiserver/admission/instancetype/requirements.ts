/** What a preference asks of the machine that uses it. */
import type { Choice } from '../../../openapi/instancetype/expand.js';
import { preferredTopology, spreadOf } from '../../../openapi/instancetype/topology.js';
import type { CPU, VirtualMachineInstanceSpec } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { compareQuantities } from '../../../openapi/quantity.js';
import { FieldPath, notFound } from '../causes.js';

const instancetypePath = FieldPath.of('spec.instancetype');
const templatePath = FieldPath.of('spec.template.spec');

/** @param spec the template's, complete: expanded and with its defaults */
export function requirementCauses(choice: Choice, spec: VirtualMachineInstanceSpec): StatusCause[] {
  const { preference } = choice;
  const required = preference?.requirements;
  if (required === undefined) return [];
  return [
    ...(required.cpu === undefined ? [] : cpuCauses(choice, required.cpu.guest, spec)),
    ...(required.memory === undefined ? [] : memoryCauses(choice, required.memory.guest, spec)),
    ...architectureCauses(required.architecture, spec),
  ];
}

function cpuCauses(choice: Choice, needed: number, { domain }: VirtualMachineInstanceSpec): StatusCause[] {
  const { instancetype } = choice;
  if (instancetype !== undefined) {
    const { guest } = instancetype.cpu;
    const few = `the instancetype gives ${guest} vCPUs, and the preference needs ${needed}: use a larger one`;
    return guest < needed ? [notFound(instancetypePath, few)] : [];
  }
  const counted = countedMembers(choice);
  const found = counted.map((member) => domain.cpu?.[member] ?? 1).reduce((a, b) => a * b, 1);
  if (found >= needed) return [];
  const [only] = counted;
  const at = templatePath.child(
    'domain',
    'cpu',
    ...(counted.length === 1 && only !== undefined ? [only] : []),
  );
  return [
    notFound(at, `${counted.join(' × ')} make ${found} vCPUs, and the preference needs at least ${needed}`),
  ];
}

/** Which part of the topology a preference's vCPUs are counted in. */
function countedMembers({ preference }: Choice): readonly (keyof CPU & ('sockets' | 'cores' | 'threads'))[] {
  const topology = preferredTopology(preference) ?? 'any';
  switch (topology) {
    case 'sockets':
    case 'cores':
    case 'threads':
      return [topology];
    case 'any':
      return ['sockets', 'cores', 'threads'];
    case 'spread':
      switch (spreadOf(preference).across) {
        case 'SocketsCores':
          return ['sockets', 'cores'];
        case 'CoresThreads':
          return ['cores', 'threads'];
        default:
          return ['sockets', 'cores', 'threads'];
      }
  }
}

function memoryCauses(
  { instancetype }: Choice,
  needed: string | number,
  { domain }: VirtualMachineInstanceSpec,
): StatusCause[] {
  const found = domain.memory?.guest ?? 0;
  if (compareQuantities(found, needed) >= 0) return [];
  const [at, who] =
    instancetype === undefined
      ? [templatePath.child('domain', 'memory'), 'the VM']
      : [instancetypePath, 'the instancetype'];
  return [notFound(at, `${who} has memory of ${found}, and the preference needs at least ${needed}`)];
}

function architectureCauses(needed: string | undefined, spec: VirtualMachineInstanceSpec): StatusCause[] {
  if (needed === undefined || spec.architecture === needed) return [];
  const found = JSON.stringify(spec.architecture ?? '');
  return [
    notFound(
      templatePath.child('architecture'),
      `is ${found}, and the preference is for ${JSON.stringify(needed)} only`,
    ),
  ];
}
