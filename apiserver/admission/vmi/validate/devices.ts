/** Inputs, sound, video, GPUs, host devices, panic devices, vsock, I/O threads and other devices. */
import { invalid, unknownWord } from '../../causes.js';
import { featureEnabled, type FeatureGate } from '../../configuration/feature-gates.js';
import type { SpecRule } from './rule.js';

const panicModels = ['hyperv', 'isa', 'pvpanic'];
const soundModels = ['ich9', 'ac97'];
const ioThreadsPolicies = ['shared', 'auto', 'supplementalPool'];

export const inputs: SpecRule = ({ spec, at }) =>
  (spec.domain.devices.inputs ?? []).flatMap(({ bus = '', type }, index) => {
    const place = at.child('domain', 'devices', 'inputs').index(index);
    return [
      ...(['', 'virtio', 'usb'].includes(bus)
        ? []
        : [invalid(place.child('bus'), unknownWord(bus, ['virtio', 'usb']))]),
      ...(type === 'tablet' ? [] : [invalid(place.child('type'), unknownWord(type, ['tablet']))]),
    ];
  });

export const sound: SpecRule = ({ spec, at }) => {
  const device = spec.domain.devices.sound;
  if (device === undefined) return [];
  const field = at.child('domain', 'devices', 'sound');
  const model = device.model ?? '';
  return [
    ...(model === '' || soundModels.includes(model) ? [] : [invalid(field, unknownWord(model, soundModels))]),
    ...(device.name === '' ? [invalid(field, 'name must be set')] : []),
  ];
};

export const video: SpecRule = ({ spec, at }) => {
  const { video: device, autoattachGraphicsDevice } = spec.domain.devices;
  if (device === undefined || autoattachGraphicsDevice !== false) return [];
  return [
    invalid(at.child('domain', 'devices', 'video'), 'a video device needs autoattachGraphicsDevice: true'),
  ];
};

export const ramFramebuffers: SpecRule = ({ spec, at }) => {
  const displays = (spec.domain.devices.gpus ?? []).filter(({ virtualGPUOptions }) => {
    const display = virtualGPUOptions?.display;
    return display !== undefined && display.enabled !== false && display.ramFB?.enabled !== false;
  });
  return displays.length > 1
    ? [invalid(at.child('domain', 'devices', 'gpus'), 'only one display can have a RAM framebuffer')]
    : [];
};

export const panicDevices: SpecRule = ({ spec, at, configuration }) => {
  const devices = spec.domain.devices.panicDevices ?? [];
  if (devices.length === 0) return [];
  const field = at.child('domain', 'devices', 'panicDevices');
  const architecture = spec.architecture ?? configuration.architectureConfiguration?.defaultArchitecture;
  return [
    ...(architecture === 's390x' ? [invalid(field, 's390x has a panic device of its own: name none')] : []),
    ...devices.flatMap(({ model }, index) =>
      model === undefined || panicModels.includes(model)
        ? []
        : [invalid(field.index(index).child('model'), unknownWord(model, panicModels))],
    ),
  ];
};

export const ioThreads: SpecRule = ({ spec, at }) => {
  const { ioThreadsPolicy: policy, ioThreads: pool } = spec.domain;
  if (policy === undefined) return [];
  return [
    ...(ioThreadsPolicies.includes(policy)
      ? []
      : [invalid(at.child('domain', 'ioThreadsPolicy'), unknownWord(policy, ioThreadsPolicies))]),
    ...(policy === 'supplementalPool' && (pool?.supplementalPoolThreadCount ?? 0) < 1
      ? [
          invalid(
            at.child('domain', 'ioThreads', 'count'),
            'supplementalPool needs ioThreads.supplementalPoolThreadCount of at least 1',
          ),
        ]
      : []),
  ];
};

/** What a spec may use only with a feature gate. */
const gated: readonly {
  readonly gate: FeatureGate;
  readonly field: readonly string[];
  readonly used: (spec: Parameters<SpecRule>[0]['spec']) => boolean;
}[] = [
  {
    gate: 'VSOCK',
    field: ['domain', 'devices', 'autoattachVSOCK'],
    used: (spec) => spec.domain.devices.autoattachVSOCK === true,
  },
  {
    gate: 'HostDevices',
    field: ['domain', 'devices', 'hostDevices'],
    used: (spec) => (spec.domain.devices.hostDevices ?? []).length > 0,
  },
  {
    gate: 'DownwardMetrics',
    field: ['domain', 'devices', 'downwardMetrics'],
    used: (spec) => spec.domain.devices.downwardMetrics !== undefined,
  },
  {
    gate: 'RebootPolicy',
    field: ['domain', 'rebootPolicy'],
    used: (spec) => spec.domain.rebootPolicy !== undefined,
  },
  {
    gate: 'ReservedOverheadMemlock',
    field: ['domain', 'memory', 'reservedOverhead'],
    used: (spec) => spec.domain.memory?.reservedOverhead !== undefined,
  },
];

export const featureGated: SpecRule = ({ spec, at, configuration }) =>
  gated
    .filter(({ gate, used }) => used(spec) && !featureEnabled(configuration, gate))
    .map(({ gate, field }) => invalid(at.child(...field), `needs the feature gate ${gate}`));
