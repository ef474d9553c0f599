/** Validation of a VirtualMachineInstancePreset: the disks and the firmware of its domain. The rest is checked in the VMIs that get it. */
import type {
  DomainSpec,
  KubeVirtConfiguration,
  VirtualMachineInstancePreset,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { sameJson } from '../../registry/equal.js';
import { FieldPath, invalid, required } from '../causes.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { disks } from '../vmi/validate/disks.js';
import { kernelBoot } from '../vmi/validate/firmware.js';

const at = FieldPath.of('spec');

export function presetValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineInstancePreset>({
    name: 'PresetValidation',
    group: 'kubevirt.io',
    resource: 'virtualmachineinstancepresets',
    create: ({ spec }, { configuration }) => domainCauses(spec?.domain, configuration),
    update: ({ spec }, old, { configuration }) =>
      sameJson(spec, old.spec) ? [] : domainCauses(spec?.domain, configuration),
  });
}

function domainCauses(domain: DomainSpec | undefined, configuration: KubeVirtConfiguration): StatusCause[] {
  if (domain === undefined) return [required(at.child('domain'), 'must say what VMIs get')];
  const input = { spec: { domain }, at, configuration };
  const { efi, bios } = domain.firmware?.bootloader ?? {};
  return [
    ...disks(input),
    ...kernelBoot(input),
    ...(efi === undefined || bios === undefined
      ? []
      : [invalid(at.child('domain', 'firmware', 'bootloader'), 'efi and bios exclude each other')]),
  ];
}
