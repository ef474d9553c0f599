/** Takes the name and kind of an instancetype or preference from the labels of a volume. */
import { instancetypeGroup, type Subject } from '../../../openapi/instancetype/kinds.js';
import { matcherOf } from '../../../openapi/instancetype/reference.js';
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { FieldPath, invalid } from '../causes.js';
import type { AdmissionLookups } from '../interface.js';
import { subjects } from './matchers.js';
import { VolumeLabels } from './volume-labels.js';

/**
 * Replaces each `inferFromVolume` by what it stands for, in place. A volume that says nothing takes the reference away if the failure
 * policy is Ignore. The references must be without faults.
 *
 * @returns why they can not be replaced
 */
export async function inferReferences(vm: VirtualMachine, lookups: AdmissionLookups): Promise<StatusCause[]> {
  const causes: StatusCause[] = [];
  for (const subject of subjects) {
    const fault = await infer(vm, subject, lookups);
    if (fault !== undefined) causes.push(fault);
  }
  return causes;
}

async function infer(
  vm: VirtualMachine,
  subject: Subject,
  lookups: AdmissionLookups,
): Promise<StatusCause | undefined> {
  const { inferFromVolume = '', inferFromVolumeFailurePolicy } = matcherOf(vm, subject) ?? {};
  if (inferFromVolume === '') return undefined;
  const ignore = inferFromVolumeFailurePolicy === 'Ignore';
  const nameLabel = `${instancetypeGroup}/default-${subject}`;
  const search = await new VolumeLabels(vm, nameLabel, lookups).ofVolume(inferFromVolume);
  if (search.kind === 'failed') {
    if (search.ignorable && ignore) Reflect.deleteProperty(vm.spec, subject);
    else
      return invalid(
        FieldPath.of('spec').child(subject, 'inferFromVolume'),
        `no ${subject} can be inferred: ${search.why}`,
      );
    return undefined;
  }
  const kind = search.labels[`${nameLabel}-kind`] ?? '';
  const name = search.labels[nameLabel] ?? '';
  vm.spec[subject] = { name, ...(kind === '' ? {} : { kind }) };
  // Such a VM carries memory of its own for when nothing can be inferred.
  if (subject === 'instancetype' && ignore) delete vm.spec.template.spec?.domain.memory;
  return undefined;
}
