/** A VM as its instances will be made of it: with its instancetype and preference applied. */
import { expandTemplate, type Choice } from '../../../openapi/instancetype/expand.js';
import type { Conflict } from '../../../openapi/instancetype/instancetype.js';
import { resolve, type Resolution } from '../../../openapi/instancetype/reference.js';
import { preferredTopology, spreadOf, spreadUnit } from '../../../openapi/instancetype/topology.js';
import type { Subject } from '../../../openapi/instancetype/kinds.js';
import type {
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineInstanceSpec,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, notFound } from '../causes.js';
import type { AdmissionContext, AdmissionLookups } from '../interface.js';
import { setTemplateDefaults } from '../vmi/defaults/spec.js';
import { storedReferents } from './lookups.js';
import { unknownKind } from './matchers.js';
import { requirementCauses } from './requirements.js';

export interface ExpandedMachine {
  /** Why the instancetype or the preference does not fit the VM. */
  readonly causes: readonly StatusCause[];
  /** With the template that instances will be made of; undefined if the causes leave that open. */
  readonly vm: VirtualMachine | undefined;
}

/** References that lead nowhere do not keep a VM from being stored, only from starting: they become warnings. */
export async function expandMachine(
  vm: VirtualMachine,
  context: Pick<AdmissionContext, 'configuration' | 'lookups' | 'warn'>,
): Promise<ExpandedMachine> {
  const { choice, missing } = await resolveReferences(vm, context.lookups);
  for (const { field = '', message = '' } of missing)
    context.warn(`${field}: ${message}: the VM can not start without it`);
  if (choice.instancetype === undefined && choice.preference === undefined) return { causes: [], vm };
  const { configuration } = context;
  const unspread = spreadCauses(choice);
  const expansion = expandTemplate(vm.spec.template, choice, configuration.network);
  if (expansion.kind === 'conflicts')
    return { causes: [...unspread, ...conflictCauses(expansion.conflicts)], vm: undefined };
  const { template } = expansion;
  return {
    causes: [...unspread, ...unmetRequirements(choice, template.spec, configuration)],
    vm: { ...vm, spec: { ...vm.spec, template } },
  };
}

/** Requirements are held against what an instance would have in the end. */
function unmetRequirements(
  choice: Choice,
  spec: VirtualMachineInstanceSpec,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  if (choice.preference?.requirements === undefined) return [];
  const completed = structuredClone(spec);
  setTemplateDefaults(completed, configuration);
  return requirementCauses(choice, completed);
}

export function conflictCauses(conflicts: readonly Conflict[]): StatusCause[] {
  return conflicts.map(({ field, value }) =>
    invalid(
      FieldPath.of('spec.template').child(field),
      `${JSON.stringify(value)} conflicts with the instancetype, which decides this: leave it out`,
    ),
  );
}

/** Virtual CPUs that can not be spread as the preference wants. */
export function spreadCauses({ instancetype, preference }: Choice): StatusCause[] {
  if (instancetype === undefined || preferredTopology(preference) !== 'spread') return [];
  const spread = spreadOf(preference);
  const { guest } = instancetype.cpu;
  const unit = spreadUnit(spread);
  if (guest % unit === 0) return [];
  return [
    invalid(
      FieldPath.of('spec.instancetype'),
      `it has ${guest} vCPUs, which the preference spreads over ${spread.across} in multiples of ${unit}`,
    ),
  ];
}

export interface Chosen {
  readonly choice: Choice;
  /** References that lead nowhere. */
  readonly missing: readonly StatusCause[];
}

export async function resolveReferences(vm: VirtualMachine, lookups: AdmissionLookups): Promise<Chosen> {
  const source = storedReferents(lookups);
  const missing: StatusCause[] = [];
  const specOf = <S extends Subject>(subject: S, resolution: Resolution<S>): Choice[S] | undefined => {
    if (resolution.kind === 'found') return resolution.spec;
    if (resolution.kind === 'missing')
      missing.push(notFound(FieldPath.of(resolution.field), unknownKind(vm, subject) ?? resolution.message));
    return undefined;
  };
  const instancetype = specOf('instancetype', await resolve('instancetype', vm, source));
  const preference = specOf('preference', await resolve('preference', vm, source));
  return { choice: { instancetype, preference }, missing };
}
