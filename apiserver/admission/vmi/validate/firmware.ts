/** Bootloader, secure boot, ACPI tables, kernel boot, machine type. */
import type { Volume } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, required, unknownWord, type FieldPath } from '../../causes.js';
import { filePathCauses } from './paths.js';
import type { SpecRule } from './rule.js';

export const bootloader: SpecRule = ({ spec, at }) => {
  const { firmware, features, launchSecurity } = spec.domain;
  const loader = firmware?.bootloader;
  if (loader === undefined) return [];
  const causes: StatusCause[] = [];
  if (loader.efi !== undefined && loader.bios !== undefined) {
    causes.push(invalid(at.child('domain', 'firmware', 'bootloader'), 'efi and bios exclude each other'));
  }
  // TDX firmware has its keys built in, so nothing has to be protected by SMM.
  const secure =
    loader.efi !== undefined && loader.efi.secureBoot !== false && launchSecurity?.tdx === undefined;
  if (secure && (features?.smm === undefined || features.smm.enabled === false)) {
    causes.push(
      invalid(
        at.child('domain'),
        'secure boot needs features.smm.enabled: true; or set firmware.bootloader.efi.secureBoot: false',
      ),
    );
  }
  return causes;
};

export const acpiTables: SpecRule = ({ spec, at }) => {
  const acpi = spec.domain.firmware?.acpi;
  if (acpi === undefined) return [];
  const field = at.child('acpi');
  const { slicNameRef = '', msdmNameRef = '' } = acpi;
  if (slicNameRef === '' && msdmNameRef === '')
    return [invalid(field, 'must name a volume by slicNameRef or msdmNameRef')];
  return [
    ...tableVolume(slicNameRef, spec.volumes ?? [], field.child('slicNameRef')),
    ...tableVolume(msdmNameRef, spec.volumes ?? [], field.child('msdmNameRef')),
  ];
};

function tableVolume(name: string, volumes: readonly Volume[], field: FieldPath): StatusCause[] {
  if (name === '') return [];
  const volume = volumes.find((each) => each.name === name);
  if (volume === undefined) return [invalid(field, `no volume is named ${JSON.stringify(name)}`)];
  return volume.secret === undefined
    ? [invalid(field, `volume ${JSON.stringify(name)} must be a secret`)]
    : [];
}

export const kernelBoot: SpecRule = ({ spec, at }) => {
  const boot = spec.domain.firmware?.kernelBoot;
  if (boot === undefined) return [];
  const field = at.child('domain', 'firmware', 'kernelBoot');
  const { container, kernelArgs = '' } = boot;
  if (container === undefined) {
    return kernelArgs === ''
      ? []
      : [invalid(field.child('kernelArgs'), 'kernel arguments need a kernel: set kernelBoot.container')];
  }
  const { image, kernelPath = '', initrdPath = '' } = container;
  const inContainer = field.child('container');
  const causes: StatusCause[] = [];
  if (image === '') causes.push(required(inContainer.child('image'), 'must be set'));
  if (kernelPath === '' && initrdPath === '')
    causes.push(required(inContainer, 'must have kernelPath, initrdPath or both'));
  if (kernelPath !== '') causes.push(...filePathCauses(inContainer.child('kernelPath'), kernelPath));
  if (initrdPath !== '') causes.push(...filePathCauses(inContainer.child('initrdPath'), initrdPath));
  return causes;
};

export const machineType: SpecRule = ({ spec, at, configuration }) => {
  const type = spec.domain.machine?.type ?? '';
  if (type === '') return [];
  const machines = configuration.architectureConfiguration;
  const own = {
    amd64: machines?.amd64,
    arm64: machines?.arm64,
    s390x: machines?.s390x,
    ppc64le: machines?.ppc64le,
  };
  const architecture = spec.architecture ?? machines?.defaultArchitecture ?? 'amd64';
  const allowed =
    configuration.emulatedMachines ??
    (Object.hasOwn(own, architecture) ? own[architecture as keyof typeof own] : own.amd64)
      ?.emulatedMachines ??
    [];
  if (allowed.some((pattern) => matchesGlob(type, pattern))) return [];
  return [invalid(at.child('domain', 'machine', 'type'), unknownWord(type, allowed))];
};

/** `*` stands for any text. Patterns come from the cluster's configuration. */
function matchesGlob(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (!text.startsWith(first)) return false;
  let position = first.length;
  for (const [index, part] of rest.entries()) {
    if (index === rest.length - 1) return text.length - part.length >= position && text.endsWith(part);
    const found = text.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position === text.length;
}
