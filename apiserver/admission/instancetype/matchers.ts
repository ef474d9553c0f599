/** The references themselves, whatever they lead to. */
import { findReferredKind, referredKinds, type Subject } from '../../../openapi/instancetype/kinds.js';
import { matcherOf } from '../../../openapi/instancetype/reference.js';
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid, notFound, notSupported, unknownWord } from '../causes.js';

export const subjects = ['instancetype', 'preference'] as const satisfies readonly Subject[];

const failurePolicies = ['Ignore', 'Reject'];

/** Faults of `spec.instancetype` and `spec.preference`. */
export function matcherCauses(vm: VirtualMachine, old: VirtualMachine | undefined): StatusCause[] {
  return subjects.flatMap((subject) => [
    ...ofMatcher(vm, subject),
    ...(old === undefined ? [] : ofChange(vm, old, subject)),
  ]);
}

function ofMatcher(vm: VirtualMachine, subject: Subject): StatusCause[] {
  const matcher = matcherOf(vm, subject);
  if (matcher === undefined) return [];
  const at = FieldPath.of('spec').child(subject);
  const { name = '', kind = '', inferFromVolume = '', inferFromVolumeFailurePolicy: policy } = matcher;
  const causes: StatusCause[] = [];
  if (name === '' && inferFromVolume === '') {
    causes.push(notFound(at, `either name or inferFromVolume must say which ${subject} is meant`));
  }
  if (inferFromVolume !== '') {
    const why = `must be left out with inferFromVolume, which takes it from the volume ${JSON.stringify(inferFromVolume)}`;
    if (name !== '') causes.push(notSupported(at.child('name'), `${JSON.stringify(name)} ${why}`));
    if (kind !== '') causes.push(notSupported(at.child('kind'), `${JSON.stringify(kind)} ${why}`));
  }
  if (policy !== undefined && !failurePolicies.includes(policy)) {
    causes.push(invalid(at.child('inferFromVolumeFailurePolicy'), unknownWord(policy, failurePolicies)));
  }
  return causes;
}

/** A copy of one instancetype must not go on to stand for another. */
function ofChange(vm: VirtualMachine, old: VirtualMachine, subject: Subject): StatusCause[] {
  const [now, before] = [matcherOf(vm, subject), matcherOf(old, subject)];
  const revision = before?.revisionName ?? '';
  if (now === undefined || before === undefined || revision === '') return [];
  if (now.name === before.name || now.revisionName !== revision) return [];
  const renamed = `name has changed from ${JSON.stringify(before.name)} to ${JSON.stringify(now.name)}`;
  return [
    invalid(
      FieldPath.of('spec').child(subject, 'revisionName'),
      `${JSON.stringify(revision)} is a copy of the former ${subject}, and ${renamed}: remove revisionName`,
    ),
  ];
}

/** A kind that does not exist keeps the VM from starting, but not from being stored: KubeVirt stores it too. */
export function unknownKind(vm: VirtualMachine, subject: Subject): string | undefined {
  const kind = matcherOf(vm, subject)?.kind;
  if (kind === undefined || findReferredKind(subject, kind) !== undefined) return undefined;
  const known = referredKinds(subject).map((each) => each.kind);
  return unknownWord(kind, known);
}
