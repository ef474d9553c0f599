/** Validation of instancetypes of both scopes. */
import type { VirtualMachineInstancetypeSpec } from '../../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import {
  instancetypeGroup,
  referredKind,
  type Referent,
  type Scope,
} from '../../../openapi/instancetype/kinds.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid } from '../causes.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission, type RuleContext } from '../kind-rules.js';

export function instancetypeValidation(scope: Scope): AdmissionPlugin {
  const admit = ({ spec }: Referent<'instancetype'>, context: RuleContext): StatusCause[] => {
    const causes = instancetypeCauses(spec, FieldPath.of('spec'));
    if (causes.length === 0 && spec.launchSecurity !== undefined)
      context.warn('spec.launchSecurity is deprecated: use spec.preferredLaunchSecurity of a preference');
    return causes;
  };
  const { kind, resource } = referredKind('instancetype', scope);
  return kindAdmission<Referent<'instancetype'>>({
    name: `${kind}Validation`,
    group: instancetypeGroup,
    resource,
    create: admit,
    update: (object, _old, context) => admit(object, context),
  });
}

export function instancetypeCauses({ memory }: VirtualMachineInstancetypeSpec, at: FieldPath): StatusCause[] {
  const field = at.child('memory', 'overcommitPercent');
  const percent = memory.overcommitPercent ?? 0;
  const causes: StatusCause[] = [];
  if (percent < 0 || percent > 100)
    causes.push(invalid(field, `${percent} is no percentage: it must be from 0 to 100`));
  if (percent !== 0 && memory.hugepages !== undefined)
    causes.push(invalid(field, `${percent}% of huge pages can not be overcommitted: leave out one of them`));
  return causes;
}
