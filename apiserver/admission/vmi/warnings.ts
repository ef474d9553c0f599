/** What a VMI may say, but should not: it is unwise, or means less than its author thinks. */
import type {
  CloudInitNoCloudSource,
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { compareQuantities, isQuantity } from '../../../openapi/quantity.js';
import { closestWord, type FieldPath } from '../causes.js';
import { featureGates, type FeatureGate } from '../configuration/feature-gates.js';

type Advice = (spec: VirtualMachineInstanceSpec, at: FieldPath) => string[];

/** Of x86; an architecture's other spellings are made of these and a suffix. */
const cpuModels = [
  ...['486', 'athlon', 'base', 'core2duo', 'coreduo', 'kvm32', 'kvm64', 'max', 'n270', 'pentium', 'pentium2'],
  ...[
    'pentium3',
    'phenom',
    'qemu32',
    'qemu64',
    'Broadwell',
    'Cascadelake-Server',
    'ClearwaterForest',
    'Conroe',
  ],
  ...['Cooperlake', 'Denverton', 'Dhyana', 'EPYC', 'EPYC-Genoa', 'EPYC-Milan', 'EPYC-Rome', 'EPYC-Turin'],
  ...['GraniteRapids', 'Haswell', 'Icelake-Client', 'Icelake-Server', 'IvyBridge', 'KnightsMill', 'Nehalem'],
  ...['Opteron_G1', 'Opteron_G2', 'Opteron_G3', 'Opteron_G4', 'Opteron_G5', 'Penryn', 'SandyBridge'],
  ...[
    'SapphireRapids',
    'SierraForest',
    'Skylake-Client',
    'Skylake-Server',
    'Snowridge',
    'Westmere',
    'YongFeng',
  ],
];
/** Not of QEMU: the node's own model, wholly or as far as guests can be moved. */
const hostModels = ['host-model', 'host-passthrough'];
const modelSuffixes = /(-noTSX)?(-IBRS|-IBPB)?(-v\d+)?$/;

const cpuModel: Advice = ({ architecture = 'amd64', domain }, at) => {
  const model = domain.cpu?.model ?? '';
  if (architecture !== 'amd64' || model === '' || hostModels.includes(model)) return [];
  if (cpuModels.includes(model.replace(modelSuffixes, ''))) return [];
  const meant = closestWord(model, [...hostModels, ...cpuModels]);
  const hint = meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`;
  return [
    `${at.child('domain', 'cpu', 'model').toString()}: QEMU may not know ${JSON.stringify(model)}, and no node have it${hint}`,
  ];
};

const memory: Advice = ({ domain }, at) => {
  const { guest } = domain.memory ?? {};
  if (guest === undefined || !isQuantity(guest)) return [];
  const limit = domain.resources?.limits?.['memory'];
  return [
    ...(compareQuantities(guest, 0) > 0
      ? []
      : [`${at.child('domain', 'memory', 'guest').toString()}: with ${guest} of memory no guest starts`]),
    ...(limit !== undefined && compareQuantities(limit, guest) === 0
      ? [
          `${at.child('domain', 'resources', 'limits', 'memory').toString()} equals the guest memory: QEMU itself needs some more, so the pod may be killed for want of memory`,
        ]
      : []),
  ];
};

const networkData: Advice = ({ volumes = [] }, at) =>
  volumes.flatMap(({ cloudInitNoCloud, cloudInitConfigDrive }, index) => {
    const source = cloudInitNoCloud ?? cloudInitConfigDrive;
    if (source === undefined || !hasNetworkData(source) || hasUserData(source)) return [];
    return [
      `${at.child('volumes').index(index).toString()} has network data but no user data: some versions of cloud-init then ignore both`,
    ];
  });

const isSet = (value: unknown): boolean => value !== undefined;
const hasNetworkData = (source: CloudInitNoCloudSource): boolean =>
  [source.networkData, source.networkDataBase64, source.networkDataSecretRef].some(isSet);
const hasUserData = (source: CloudInitNoCloudSource): boolean =>
  [source.userData, source.userDataBase64, source.secretRef].some(isSet);

const advice: readonly Advice[] = [cpuModel, memory, networkData];

/** `at` is the place of the spec. Pure; the spec must be admissible. */
export function specWarnings(
  spec: VirtualMachineInstanceSpec,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
): string[] {
  const gates = configuration.developerConfiguration?.featureGates ?? [];
  return [
    ...advice.flatMap((each) => each(spec, at)),
    ...gates
      .filter(
        (gate) => Object.hasOwn(featureGates, gate) && featureGates[gate as FeatureGate] === 'Deprecated',
      )
      .map((gate) => `the feature gate ${gate} is deprecated`),
  ];
}
