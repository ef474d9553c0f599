/** NVIDIA Grace GPUs by PCI passthrough: what they need of the guest and the cluster. */
import type { ObjectMeta, StatusCause } from '../../../../openapi/meta.js';
import { invalid, required, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import type { SpecRule } from './rule.js';

type Input = Parameters<SpecRule>[0];

const vendor = '10de';
/** Device ids of the GPUs on a Grace module. */
const graceDevices = new Set(['2342', '2348', '2941']);

/** Annotations of the instance that keep a Grace GPU from working. */
const hostileAnnotations = ['kubevirt.io/placePCIDevicesOnRootComplex', 'kubevirt.io/disablePCIHole64'];

export const graceGpus: SpecRule = (input) => {
  const { configuration } = input;
  const requests = requestedPciDevices(input);
  const grace = requests.filter(({ selector }) => isGrace(selector));
  if (!featureEnabled(configuration, 'GraceIOVirtualization')) {
    return grace.map(({ place, deviceName }) =>
      invalid(place, `${deviceName} needs the feature gate GraceIOVirtualization`),
    );
  }
  const vague = requests.filter(({ selector }) => selector === `${vendor}:*`);
  const causes = vague.map(({ place, deviceName }) =>
    invalid(place, `${deviceName} needs a pciVendorSelector that names the device, not ${vendor}:*`),
  );
  return grace.length === 0 ? causes : [...causes, ...needs(input)];
};

/** `at` is the place of the metadata, which stand apart from the spec. */
export function graceAnnotations(
  { annotations = {} }: Pick<ObjectMeta, 'annotations'>,
  at: FieldPath,
  input: Input,
): StatusCause[] {
  const hostile = hostileAnnotations.filter((name) => annotations[name] === 'true');
  if (hostile.length === 0 || !requestedPciDevices(input).some(({ selector }) => isGrace(selector)))
    return [];
  return hostile.map((name) =>
    invalid(at.child('annotations').key(name), 'must not be "true" with a Grace GPU'),
  );
}

function requestedPciDevices({ spec, at, configuration }: Input): {
  readonly selector: string;
  readonly deviceName: string;
  readonly place: FieldPath;
}[] {
  const selectors = new Map(
    (configuration.permittedHostDevices?.pciHostDevices ?? []).map(({ resourceName, pciVendorSelector }) => [
      resourceName,
      pciVendorSelector.toLowerCase(),
    ]),
  );
  if (selectors.size === 0) return [];
  const inDevices = at.child('domain', 'devices');
  return (['gpus', 'hostDevices'] as const).flatMap((name) =>
    (spec.domain.devices[name] ?? []).map(({ deviceName = '' }, index) => ({
      selector: selectors.get(deviceName) ?? '',
      deviceName,
      place: inDevices.child(name).index(index).child('deviceName'),
    })),
  );
}

function needs({ spec, at, configuration }: Input): StatusCause[] {
  const architecture = spec.architecture ?? configuration.architectureConfiguration?.defaultArchitecture;
  const machine =
    spec.domain.machine?.type ?? configuration.architectureConfiguration?.arm64?.machineType ?? '';
  const causes: StatusCause[] = [];
  if (architecture !== 'arm64')
    causes.push(invalid(at.child('architecture'), 'Grace GPUs are of arm64 machines'));
  if (!machine.startsWith('virt'))
    causes.push(invalid(at.child('domain', 'machine', 'type'), 'Grace GPUs need the machine type virt'));
  if (spec.domain.cpu?.dedicatedCpuPlacement !== true) {
    causes.push(required(at.child('domain', 'cpu', 'dedicatedCpuPlacement'), 'must be true with Grace GPUs'));
  }
  for (const gate of ['PCINUMAAwareTopology', 'IOMMUFD'] as const) {
    if (!featureEnabled(configuration, gate))
      causes.push(invalid(at.child('domain', 'devices'), `Grace GPUs need the feature gate ${gate}`));
  }
  return causes;
}

function isGrace(selector: string): boolean {
  const [vendorId, deviceId = ''] = selector.split(':');
  return vendorId === vendor && graceDevices.has(deviceId);
}
