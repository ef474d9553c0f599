/** Networks and interfaces: that they match, their sources, bindings, ports and DHCP options. */
import { isIPv4 } from 'node:net';
import type { Interface, Network, PortRange } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { duplicate, invalid, notSupported, required, unknownWord, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import { isPciAddress } from './pci-address.js';
import type { SpecRule } from './rule.js';

const models = ['e1000', 'e1000e', 'igb', 'ne2k_pci', 'pcnet', 'rtl8139', 'virtio'];
const states = ['up', 'down', 'absent'];
/** The bridge inside the pod has it. */
const reservedMac = '02:00:00:00:00:00';
/** `02:00:17:00:00:01`, `02-00-17-00-00-01` or `0200.1700.0001` */
export const macAddress = /^(?:([\da-f]{2}([:-]))([\da-f]{2}\2){4}[\da-f]{2}|([\da-f]{4}\.){2}[\da-f]{4})$/i;
const digitsOf = (mac: string): string => mac.toLowerCase().replaceAll(/[:.-]/g, '');
const portName = /^(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const maximumPortRanges = 10;

const interfacesAt = (at: FieldPath): FieldPath => at.child('domain', 'devices', 'interfaces');

/** Names already seen at another place get one cause each. */
function duplicates(
  names: readonly string[],
  fault: (index: number, name: string) => StatusCause,
): StatusCause[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const again = seen.has(name);
    seen.add(name);
    return again ? [fault(index, name)] : [];
  });
}

export const networks: SpecRule = ({ spec, at }) => {
  const all = spec.networks ?? [];
  const field = at.child('networks');
  const causes = duplicates(
    all.map((network) => network.name),
    (index, name) =>
      duplicate(field.index(index).child('name'), `another network is named ${JSON.stringify(name)}`),
  );
  const pods = all.filter((network) => network.pod !== undefined);
  const defaults = all.filter((network) => network.multus?.default === true);
  if (pods.length > 1)
    causes.push(duplicate(at.child('interfaces'), 'only one network can be the pod network'));
  if (defaults.length > 1) causes.push(invalid(field, 'only one Multus network can be the default'));
  if (pods.length > 0 && defaults.length > 0) {
    causes.push(
      invalid(field, 'a default Multus network takes the place of the pod network: name one of them'),
    );
  }
  for (const [index, network] of all.entries()) {
    const sources = [network.pod, network.multus, network.resourceClaim].filter(
      (source) => source !== undefined,
    );
    if (sources.length !== 1)
      causes.push(required(field.index(index), 'must have one source: pod, multus or resourceClaim'));
    if (network.multus?.networkName === '')
      causes.push(required(field.index(index), 'multus.networkName must be set'));
  }
  return causes;
};

export const interfaces: SpecRule = (input) => {
  const { spec, at, configuration } = input;
  const all = spec.domain.devices.interfaces ?? [];
  const field = interfacesAt(at);
  const networksByName = new Map((spec.networks ?? []).map((network) => [network.name, network]));
  const named = new Set(all.map((each) => each.name));
  const causes = duplicates(
    all.map((each) => each.name),
    (index, name) =>
      duplicate(field.index(index).child('name'), `another interface is on network ${JSON.stringify(name)}`),
  );
  for (const [index, network] of (spec.networks ?? []).entries()) {
    if (!named.has(network.name)) {
      causes.push(
        required(
          at.child('networks').index(index).child('name'),
          `no interface is named ${JSON.stringify(network.name)}`,
        ),
      );
    }
  }
  for (const [index, each] of all.entries()) {
    const place = field.index(index);
    const network = networksByName.get(each.name);
    if (network === undefined) {
      causes.push(invalid(place.child('name'), `no network is named ${JSON.stringify(each.name)}`));
    }
    causes.push(
      ...identity(each, place),
      ...binding(each, network, place),
      ...state(each, network, spec.networks ?? [], place),
    );
    causes.push(...dhcp(each, at, place));
    if (network?.pod !== undefined) causes.push(...ports(each, place));
    if (each.portRanges !== undefined) {
      if (!featureEnabled(configuration, 'PortRangesSpec')) {
        causes.push(invalid(place.child('name'), 'portRanges needs the feature gate PortRangesSpec'));
      } else if (network?.pod !== undefined) causes.push(...portRanges(each, each.portRanges, place));
    }
    if (each.passtBinding !== undefined && !featureEnabled(configuration, 'PasstBinding')) {
      causes.push(invalid(place.child('name'), 'passtBinding needs the feature gate PasstBinding'));
    }
    const forbidden = configuration.network?.permitBridgeInterfaceOnPodNetwork === false;
    if (each.bridge !== undefined && network?.pod !== undefined && forbidden) {
      causes.push(
        invalid(
          place.child('name'),
          'network.permitBridgeInterfaceOnPodNetwork of the KubeVirt configuration forbids a bridge on the pod network',
        ),
      );
    }
  }
  return causes;
};

/** Bindings that are gone: refused when something new asks for them. */
export const discontinuedBindings: SpecRule = ({ spec, at }) =>
  (spec.domain.devices.interfaces ?? []).flatMap((each, index) =>
    (['slirp', 'passt', 'macvtap'] as const)
      .filter((name) => each[name] !== undefined)
      .map((name) =>
        invalid(interfacesAt(at).index(index).child(name), `the binding ${name} is no longer served`),
      ),
  );

function identity(each: Interface, place: FieldPath): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!/^[A-Za-z0-9_-]+$/.test(each.name)) {
    causes.push(
      invalid(place.child('name'), `${JSON.stringify(each.name)} may hold only letters, digits, - and _`),
    );
  }
  if (isGiven(each.model) && !models.includes(each.model)) {
    causes.push(notSupported(place.child('model'), unknownWord(each.model, models)));
  }
  if (isGiven(each.macAddress) && !macAddress.test(each.macAddress)) {
    causes.push(
      invalid(
        place.child('macAddress'),
        `${JSON.stringify(each.macAddress)} is no MAC address such as 02:00:17:00:00:01`,
      ),
    );
  }
  if (isGiven(each.pciAddress) && !isPciAddress(each.pciAddress)) {
    causes.push(
      invalid(
        place.child('pciAddress'),
        `${JSON.stringify(each.pciAddress)} is no PCI address such as 0000:81:01.0`,
      ),
    );
  }
  return causes;
}

function binding(each: Interface, network: Network | undefined, place: FieldPath): StatusCause[] {
  const causes: StatusCause[] = [];
  const given = [each.bridge, each.masquerade, each.sriov, each.passtBinding, each.binding].filter(
    (one) => one !== undefined,
  );
  if (given.length !== 1) {
    causes.push(
      invalid(
        place,
        'must have one binding: bridge, masquerade, sriov, passtBinding or a plugin under binding',
      ),
    );
  }
  if (network?.pod === undefined) {
    for (const name of ['masquerade', 'passtBinding'] as const) {
      if (each[name] !== undefined)
        causes.push(invalid(place.child('name'), `${name} works on the pod network only`));
    }
  }
  if (each.masquerade !== undefined && digitsOf(each.macAddress ?? '') === digitsOf(reservedMac)) {
    causes.push(
      invalid(
        place.child('macAddress'),
        `${reservedMac} is reserved for the bridge in the pod: take another`,
      ),
    );
  }
  return causes;
}

function state(
  each: Interface,
  network: Network | undefined,
  all: readonly Network[],
  place: FieldPath,
): StatusCause[] {
  if (!isGiven(each.state)) return [];
  const field = place.child('state');
  const causes: StatusCause[] = [];
  if (!states.includes(each.state)) causes.push(invalid(field, unknownWord(each.state, states)));
  if (each.sriov !== undefined && (each.state === 'up' || each.state === 'down')) {
    causes.push(invalid(field, 'the link of an SR-IOV interface can not be set'));
  }
  if (each.state !== 'absent') return causes;
  if (each.bridge === undefined)
    causes.push(invalid(field, 'only an interface with bridge binding can be absent'));
  const primary = all.find((one) => one.pod !== undefined || one.multus?.default === true);
  if (primary !== undefined && primary === network)
    causes.push(invalid(field, 'the default network can not be absent'));
  return causes;
}

function ports(each: Interface, place: FieldPath): StatusCause[] {
  const all = each.ports ?? [];
  const names = new Set<string>();
  return all.flatMap(({ name, port, protocol }, index) => {
    const field = place.child('ports').index(index);
    const causes: StatusCause[] = [];
    if (isGiven(name)) {
      if (names.has(name))
        causes.push(duplicate(field.child('name'), `another port is named ${JSON.stringify(name)}`));
      if (!portName.test(name))
        causes.push(invalid(field.child('name'), `${JSON.stringify(name)} is no port name`));
      names.add(name);
    }
    if (port === 0) causes.push(required(field.child('port'), 'must be set'));
    if (port < 0 || port > 65_535)
      causes.push(invalid(field.child('port'), `${port} is no port: must be from 1 to 65535`));
    if (isGiven(protocol) && !['TCP', 'UDP'].includes(protocol)) {
      causes.push(invalid(field.child('protocol'), unknownWord(protocol, ['TCP', 'UDP'])));
    }
    return causes;
  });
}

function portRanges(each: Interface, ranges: readonly PortRange[], place: FieldPath): StatusCause[] {
  const field = place.child('portRanges');
  const causes: StatusCause[] = [];
  if (each.ports !== undefined)
    causes.push(invalid(place.child('name'), 'ports and portRanges exclude each other'));
  if (each.masquerade === undefined)
    causes.push(invalid(place.child('name'), 'portRanges works with masquerade only'));
  if (ranges.length > maximumPortRanges)
    return [...causes, invalid(field, `at most ${maximumPortRanges} ranges`)];
  const isPort = (port: number): boolean => port > 0 && port < 65_536;
  const good: PortRange[] = [];
  for (const [index, range] of ranges.entries()) {
    const at = field.index(index);
    if (!['TCP', 'UDP'].includes(range.protocol))
      causes.push(invalid(at.child('protocol'), unknownWord(range.protocol, ['TCP', 'UDP'])));
    else if (!isPort(range.start))
      causes.push(invalid(at.child('start'), `${range.start} is no port: must be from 1 to 65535`));
    else if (!isPort(range.end))
      causes.push(invalid(at.child('end'), `${range.end} is no port: must be from 1 to 65535`));
    else if (range.start > range.end)
      causes.push(invalid(at.child('start'), `${range.start} is greater than the end, ${range.end}`));
    else good.push(range);
  }
  for (const protocol of ['TCP', 'UDP']) {
    const sorted = good
      .filter((range) => range.protocol === protocol)
      .sort((a, b) => a.start - b.start || a.end - b.end);
    sorted.forEach((range, index) => {
      const before = sorted[index - 1];
      if (before !== undefined && range.start <= before.end) {
        causes.push(
          invalid(field, `${protocol} ${before.start}-${before.end} and ${range.start}-${range.end} overlap`),
        );
      }
    });
  }
  return causes;
}

function dhcp(each: Interface, at: FieldPath, place: FieldPath): StatusCause[] {
  if (each.dhcpOptions === undefined) return [];
  const { privateOptions = [], ntpServers = [] } = each.dhcpOptions;
  const causes: StatusCause[] = [];
  if (new Set(privateOptions.map(({ option }) => option)).size < privateOptions.length) {
    causes.push(invalid(at, `interface ${each.name}: a private DHCP option is given twice`));
  }
  for (const { option } of privateOptions) {
    if (option < 224 || option > 254)
      causes.push(
        invalid(at, `interface ${each.name}: DHCP option ${option} is not private: must be from 224 to 254`),
      );
  }
  ntpServers.forEach((server, index) => {
    // An IPv4 address may be written as IPv6.
    if (!isIPv4(server.replace(/^::ffff:/i, ''))) {
      causes.push(
        invalid(
          place.child('dhcpOptions', 'ntpServers').index(index),
          `${JSON.stringify(server)} is no IPv4 address`,
        ),
      );
    }
  });
  return causes;
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== '';
