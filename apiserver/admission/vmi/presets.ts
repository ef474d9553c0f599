/** VirtualMachineInstancePresets: parts of a domain for the VMIs that a selector matches. Deprecated, still honoured. */
import type {
  DomainSpec,
  VirtualMachineInstance,
  VirtualMachineInstancePreset,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { compileLabelSelector } from '../../../openapi/selectors.js';
import { deepEqual } from '../../apply/typed-value.js';
import { ApiError } from '../../errors/api-error.js';
import type { AdmissionContext } from '../interface.js';
import { presetExclusionAnnotation } from './constants.js';

const deprecation =
  'kubevirt.io/v1 VirtualMachineInstancePresets is now deprecated and will be removed in v2.';

/** One part of a domain that a preset may fill in, whole, where the VMI leaves it out. */
interface Part {
  readonly path: string;
  readonly get: (domain: DomainSpec) => unknown;
  readonly fill: (domain: DomainSpec, from: DomainSpec) => void;
}

const parts: readonly Part[] = [
  {
    path: 'resources.requests',
    get: ({ resources }) => resources?.requests,
    fill: (domain, { resources }) => {
      domain.resources = { ...domain.resources, requests: { ...resources?.requests } };
    },
  },
  ...(['cpu', 'firmware', 'clock', 'features', 'ioThreadsPolicy'] as const).map((key): Part => ({
    path: key,
    get: (domain) => domain[key],
    fill: (domain, from) => void Object.assign(domain, { [key]: structuredClone(from[key]) }),
  })),
  {
    path: 'devices.watchdog',
    get: ({ devices }) => devices.watchdog,
    fill: (domain, from) =>
      void Object.assign(domain.devices, { watchdog: structuredClone(from.devices.watchdog) }),
  },
];

/** Throws Invalid when two matching presets disagree. What the VMI says itself always wins. */
export async function applyPresets(vmi: VirtualMachineInstance, context: AdmissionContext): Promise<void> {
  if (vmi.metadata.annotations?.[presetExclusionAnnotation] === 'true') return;
  const all = await context.lookups.list<VirtualMachineInstancePreset>(
    'kubevirt.io',
    'virtualmachineinstancepresets',
    vmi.metadata.namespace,
    'cached',
  );
  const matching = all.filter((preset) =>
    compileLabelSelector(preset.spec?.selector).matches(vmi.metadata.labels),
  );
  refuseConflicts(matching);
  for (const preset of matching) {
    if (preset.spec?.domain === undefined || !applyPreset(preset.spec.domain, vmi.spec.domain)) continue;
    vmi.metadata.annotations = {
      ...vmi.metadata.annotations,
      [`virtualmachinepreset.kubevirt.io/${preset.metadata.name}`]: 'kubevirt.io/v1',
    };
    context.warn(deprecation);
  }
}

/** True if at least one part of the domain now is what the preset says. */
function applyPreset(preset: DomainSpec, domain: DomainSpec): boolean {
  let applied = false;
  for (const part of parts) {
    const wanted = part.get(preset);
    if (wanted === undefined) continue;
    if (part.get(domain) === undefined) part.fill(domain, preset);
    applied ||= deepEqual(part.get(domain), wanted);
  }
  return applied;
}

function refuseConflicts(presets: readonly VirtualMachineInstancePreset[]): void {
  const faults = presets.flatMap((preset, index) =>
    presets.slice(0, index).flatMap((other) => {
      const paths = parts
        .filter((part) => disagree(part, preset.spec?.domain, other.spec?.domain))
        .map((part) => `spec.domain.${part.path}`);
      return paths.length === 0
        ? []
        : [`"${preset.metadata.name}" and "${other.metadata.name}" differ in ${paths.join(', ')}`];
    }),
  );
  if (faults.length > 0) {
    throw new ApiError(
      'Invalid',
      `VirtualMachineInstancePresets that match this VMI conflict: ${faults.join('; ')}`,
    );
  }
}

function disagree(part: Part, a: DomainSpec | undefined, b: DomainSpec | undefined): boolean {
  const [left, right] = [a && part.get(a), b && part.get(b)];
  return left !== undefined && right !== undefined && !deepEqual(left, right);
}
