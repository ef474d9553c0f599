/** Decides by the cluster's own Role, ClusterRole and binding objects. */
import type { Attributes, Authorizer, Decision } from '../authorizer.js';
import type { GrantedRule, RbacPolicy } from './policy.js';
import { ruleAllows } from './rule.js';

export class RbacAuthorizer implements Authorizer {
  constructor(private readonly policy: RbacPolicy) {}

  authorize(attributes: Attributes): Decision {
    for (const granted of this.policy.rulesFor(attributes.user, attributes.namespace)) {
      if (ruleAllows(granted.rule, attributes)) return { effect: 'allow', reason: describe(granted) };
    }
    return { effect: 'none', reason: '' };
  }
}

function describe({ grant }: GrantedRule): string {
  const { bindingKind, bindingName, namespace, roleRef, subject } = grant;
  const binding = namespace === '' ? bindingName : `${bindingName}/${namespace}`;
  const who =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  return `RBAC: allowed by ${bindingKind} "${binding}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}
