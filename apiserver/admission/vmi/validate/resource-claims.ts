/** Dynamic resource allocation: claims, and the devices and networks that use them. */
import type { GPU, HostDevice } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { dnsLabelFaults, dnsSubdomainFaults } from '../../../../openapi/names.js';
import { duplicate, invalid, notFound, required, type FieldPath } from '../../causes.js';
import { featureEnabled, type FeatureGate } from '../../configuration/feature-gates.js';
import type { SpecRule } from './rule.js';

type Device = GPU | HostDevice;

const isClaimed = ({ deviceName = '', claimName, requestName }: Device): boolean =>
  deviceName === '' && (claimName !== undefined || requestName !== undefined);

export const resourceClaims: SpecRule = (input) => {
  const { spec, at } = input;
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const owners = new Map<string, string>();
  const causes = [
    ...claims(input),
    ...devices(gpus, at.child('domain', 'devices', 'gpus'), 'GPUsWithDRA', true, input),
    ...devices(hostDevices, at.child('domain', 'devices', 'hostDevices'), 'HostDevicesWithDRA', false, input),
    ...claimedNetworks(input),
  ];
  for (const [field, index, pair] of claimedPairs(input)) {
    const place = field.index(index);
    const owner = owners.get(pair);
    if (owner !== undefined) causes.push(duplicate(place, `${pair} is used by ${owner} already`));
    else owners.set(pair, place.toString());
  }
  const known = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  const used = [...gpus, ...hostDevices].filter(isClaimed).map((device) => device.claimName);
  const unknown = used.find((name) => name !== undefined && name !== '' && !known.has(name));
  if (unknown !== undefined)
    causes.push(
      invalid(
        at.child('resourceClaims'),
        `must hold the claim ${JSON.stringify(unknown)} that a device uses`,
      ),
    );
  return causes;
};

function claimedPairs({ spec, at, configuration }: Parameters<SpecRule>[0]): [FieldPath, number, string][] {
  const pairs: [FieldPath, number, string][] = [];
  const add = (
    field: FieldPath,
    index: number,
    claim: string | undefined,
    request: string | undefined,
  ): void => {
    if (isGiven(claim) && isGiven(request)) pairs.push([field, index, `${claim}/${request}`]);
  };
  const inDevices = at.child('domain', 'devices');
  for (const name of ['gpus', 'hostDevices'] as const) {
    (spec.domain.devices[name] ?? []).forEach((device, index) => {
      if (isClaimed(device)) add(inDevices.child(name), index, device.claimName, device.requestName);
    });
  }
  if (featureEnabled(configuration, 'NetworkDevicesWithDRA')) {
    (spec.networks ?? []).forEach(({ resourceClaim }, index) => {
      add(at.child('networks'), index, resourceClaim?.claimName, resourceClaim?.requestName);
    });
  }
  return pairs;
}

function claims({ spec, at }: Parameters<SpecRule>[0]): StatusCause[] {
  const names = new Set<string>();
  return (spec.resourceClaims ?? []).flatMap(
    ({ name, resourceClaimName, resourceClaimTemplateName }, index) => {
      const place = at.child('resourceClaims').index(index);
      const causes: StatusCause[] = [];
      if (name === '') causes.push(required(place.child('name'), 'must be set'));
      else if (names.has(name))
        causes.push(duplicate(place.child('name'), `another claim is named ${JSON.stringify(name)}`));
      else
        causes.push(
          ...dnsLabelFaults(name)
            .slice(0, 1)
            .map((fault) => invalid(place.child('name'), fault)),
        );
      names.add(name);
      const sources = [resourceClaimName, resourceClaimTemplateName].filter((source) => source !== undefined);
      if (sources.length !== 1)
        causes.push(invalid(place, 'must have one of resourceClaimName and resourceClaimTemplateName'));
      for (const [field, value] of Object.entries({ resourceClaimName, resourceClaimTemplateName })) {
        if (value !== undefined)
          causes.push(...dnsSubdomainFaults(value).map((fault) => invalid(place.child(field), fault)));
      }
      return causes;
    },
  );
}

function devices(
  all: readonly Device[],
  field: FieldPath,
  gate: FeatureGate,
  rejectMixed: boolean,
  { configuration }: Parameters<SpecRule>[0],
): StatusCause[] {
  const claimed = all.filter(isClaimed);
  if (rejectMixed && claimed.length > 0 && claimed.length < all.length) {
    return [invalid(field, 'all must be claimed by claimName and requestName, or all named by deviceName')];
  }
  const causes: StatusCause[] = [];
  for (const device of all) {
    if (isClaimed(device)) continue;
    if (!isGiven(device.deviceName))
      causes.push(required(field, `${device.name} must have a deviceName or a claim`));
    else if (device.claimName !== undefined || device.requestName !== undefined) {
      causes.push(invalid(field, `${device.name}: deviceName and a claim exclude each other`));
    }
  }
  if (claimed.length > 0 && !featureEnabled(configuration, gate)) {
    return [...causes, invalid(field, `claims need the feature gate ${gate}`)];
  }
  all.forEach((device, index) => {
    if (!isClaimed(device)) return;
    for (const name of ['claimName', 'requestName'] as const) {
      if (!isGiven(device[name])) causes.push(required(field.index(index).child(name), 'must be set'));
    }
  });
  return causes;
}

function claimedNetworks({ spec, at, configuration }: Parameters<SpecRule>[0]): StatusCause[] {
  const all = spec.networks ?? [];
  const field = at.child('networks');
  if (!all.some((network) => network.resourceClaim !== undefined)) return [];
  if (!featureEnabled(configuration, 'NetworkDevicesWithDRA')) {
    return [invalid(field, 'resourceClaim needs the feature gate NetworkDevicesWithDRA')];
  }
  if (all.some((network) => network.multus !== undefined))
    return [invalid(field, 'multus and resourceClaim networks do not mix')];
  const known = new Set((spec.resourceClaims ?? []).map((claim) => claim.name));
  return all.flatMap(({ name, resourceClaim }, index) => {
    if (resourceClaim === undefined) return [];
    const place = field.index(index).child('resourceClaim');
    const causes: StatusCause[] = [];
    const nic = (spec.domain.devices.interfaces ?? []).find((each) => each.name === name);
    if (nic !== undefined && nic.sriov === undefined && nic.binding === undefined) {
      causes.push(
        invalid(
          at.child('domain', 'devices', 'interfaces'),
          `${name} is claimed: its interface needs sriov or a binding plugin`,
        ),
      );
    }
    const { claimName = '', requestName = '' } = resourceClaim;
    if (claimName === '') causes.push(required(place.child('claimName'), 'must be set'));
    if (requestName === '') causes.push(required(place.child('requestName'), 'must be set'));
    if (claimName !== '' && requestName !== '' && !known.has(claimName)) {
      causes.push(
        notFound(place.child('claimName'), `spec.resourceClaims holds no claim ${JSON.stringify(claimName)}`),
      );
    }
    return causes;
  });
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';
