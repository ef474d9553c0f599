/** Validation of a VirtualMachinePool: its template is that of a good VM, its selector finds what it makes, its strategies are one each. */
import type {
  VirtualMachinePool,
  VirtualMachinePoolSpec,
} from '../../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid, required } from '../causes.js';
import type { IsComponent } from '../components.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';
import { selectorCauses } from '../selector.js';
import { machineSpecCauses } from '../vm/validate.js';

const at = FieldPath.of('spec');

export function virtualMachinePoolValidation(isComponent: IsComponent): AdmissionPlugin {
  const templateCauses = (
    pool: VirtualMachinePool,
    old: VirtualMachinePool | undefined,
    { configuration, user }: RuleContext,
  ): StatusCause[] => {
    const place = at.child('virtualMachineTemplate', 'spec');
    const vm = machineOf(pool);
    if (vm === undefined) return [required(place, 'must describe the VMs of the pool')];
    return machineSpecCauses(
      vm,
      old === undefined ? undefined : machineOf(old),
      place,
      configuration,
      isComponent(user),
    );
  };
  return kindAdmission<VirtualMachinePool>({
    name: 'VirtualMachinePoolValidation',
    group: 'pool.kubevirt.io',
    resource: 'virtualmachinepools',
    create: (pool, context) => [...templateCauses(pool, undefined, context), ...poolCauses(pool.spec)],
    update: (pool, old, context) => [
      // What was admitted under another configuration may still be labelled and scaled.
      ...(sameJson(pool.spec.virtualMachineTemplate, old.spec.virtualMachineTemplate)
        ? []
        : templateCauses(pool, old, context)),
      ...poolCauses(pool.spec),
      ...(sameJson(pool.spec.selector, old.spec.selector)
        ? []
        : [invalid(at.child('selector'), 'can not be changed: the VMs of the pool would be lost to it')]),
    ],
  });
}

/** As the pool would make one, in its own namespace. */
function machineOf({ metadata, spec }: VirtualMachinePool): VirtualMachine | undefined {
  const machineSpec = spec.virtualMachineTemplate.spec;
  return machineSpec === undefined
    ? undefined
    : { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec: machineSpec };
}

function poolCauses(spec: VirtualMachinePoolSpec): StatusCause[] {
  const { selector, virtualMachineTemplate, maxUnavailable, updateStrategy, scaleInStrategy } = spec;
  return [
    ...selectorCauses(selector, virtualMachineTemplate.metadata?.labels, at.child('selector')),
    ...(maxUnavailable === undefined ? [] : maxUnavailableCauses(maxUnavailable)),
    ...strategyCauses(updateStrategy, at.child('updateStrategy')),
    ...strategyCauses(scaleInStrategy, at.child('scaleInStrategy')),
  ];
}

/** A number of VMs, or a share of them. */
function maxUnavailableCauses(value: string | number): StatusCause[] {
  const place = at.child('maxUnavailable');
  if (typeof value === 'number') return value > 0 ? [] : [invalid(place, `${value} must be at least 1`)];
  const percentage = /^(\d{1,3})%$/.exec(value)?.[1];
  if (percentage !== undefined && Number(percentage) >= 1 && Number(percentage) <= 100) return [];
  return [invalid(place, `${JSON.stringify(value)} must be a number, or a percentage from 1% to 100%`)];
}

const strategies = ['unmanaged', 'opportunistic', 'proactive'] as const;

function strategyCauses(
  strategy: Readonly<Partial<Record<(typeof strategies)[number], unknown>>> = {},
  place: FieldPath,
): StatusCause[] {
  const chosen = strategies.filter((name) => strategy[name] !== undefined);
  return chosen.length > 1 ? [invalid(place, `${chosen.join(' and ')} exclude each other`)] : [];
}
