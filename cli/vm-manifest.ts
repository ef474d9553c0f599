/** A VirtualMachine from the flags of `create vm`. */
import type {
  AccessCredential,
  DataVolumeTemplateSpec,
  InstancetypeMatcher,
  VirtualMachine,
  Volume,
} from '../openapi/generated/types/kubevirt_v1.js';
import { cloudInitVolume } from './cloud-init.js';
import { UsageError } from './errors.js';
import { bootOrderOf, oneOf, parseParameters, splitReference, wholeNumber } from './flag-parameters.js';
import { importedVolume } from './imported-volume.js';

export const runStrategies = ['Always', 'Halted', 'Manual', 'Once', 'RerunOnFailure'] as const;

export interface MachineFlags {
  readonly name: string;
  readonly runStrategy: string;
  readonly gracePeriod: string;
  readonly memory: string | undefined;
  readonly instancetype: string | undefined;
  readonly inferInstancetype: boolean;
  readonly inferInstancetypeFrom: string | undefined;
  readonly preference: string | undefined;
  readonly inferPreference: boolean;
  readonly inferPreferenceFrom: string | undefined;
  readonly containerDisks: readonly string[];
  readonly claims: readonly string[];
  readonly imports: readonly string[];
  readonly sysprep: string | undefined;
  readonly accessCredentials: readonly string[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly sshKeys: readonly string[];
  readonly agentManagesSsh: boolean;
  readonly cloudInit: string | undefined;
  /** Base64, as `networkData`. */
  readonly userData: string | undefined;
  readonly networkData: string | undefined;
}

/** A volume, and what makes and orders it. */
export interface PlannedVolume {
  readonly volume: Volume;
  readonly bootOrder?: number | undefined;
  readonly template?: DataVolumeTemplateSpec;
}

/** Throws a `UsageError`. */
export function buildVirtualMachine(
  flags: MachineFlags,
): Omit<VirtualMachine, 'metadata'> & { metadata: object } {
  const planned = plannedVolumes(flags);
  const disks = planned.flatMap(({ volume, bootOrder }) =>
    bootOrder === undefined ? [] : [{ name: volume.name, disk: { bus: 'virtio' }, bootOrder }],
  );
  const first = bootedFirst(planned);
  const instancetype = matcher(
    'Instancetype',
    flags.instancetype,
    flags.inferInstancetypeFrom ?? (flags.inferInstancetype ? first : undefined),
  );
  const preference = matcher(
    'Preference',
    flags.preference,
    flags.inferPreferenceFrom ?? (flags.inferPreference ? first : undefined),
  );
  if (instancetype !== undefined && flags.memory !== undefined)
    throw new UsageError('--memory and an instancetype exclude each other');
  const memory = flags.memory ?? (instancetype === undefined ? '512Mi' : undefined);
  const templates = planned.flatMap(({ template }) => (template === undefined ? [] : [template]));
  const cloudInit = cloudInitVolume(flags);
  const volumes = [...planned.map(({ volume }) => volume), ...(cloudInit === undefined ? [] : [cloudInit])];
  const credentials = flags.accessCredentials.map(accessCredential);
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: flags.name },
    spec: {
      runStrategy: oneOf('run-strategy', flags.runStrategy, runStrategies),
      ...(instancetype === undefined ? {} : { instancetype }),
      ...(preference === undefined ? {} : { preference }),
      ...(templates.length === 0 ? {} : { dataVolumeTemplates: templates }),
      template: {
        spec: {
          ...(credentials.length === 0 ? {} : { accessCredentials: credentials }),
          domain: {
            devices: disks.length === 0 ? {} : { disks },
            ...(memory === undefined ? {} : { memory: { guest: memory } }),
          },
          terminationGracePeriodSeconds: wholeNumber('termination-grace-period', flags.gracePeriod),
          ...(volumes.length === 0 ? {} : { volumes }),
        },
      },
    },
  };
}

function plannedVolumes(flags: MachineFlags): PlannedVolume[] {
  const containerDisks = flags.containerDisks.map((text, index): PlannedVolume => {
    const flag = 'volume-containerdisk';
    const { src = '', name, bootorder } = parseParameters(flag, text, ['src', 'name', 'bootorder'], ['src']);
    const volume = { name: name ?? `${flags.name}-containerdisk-${index}`, containerDisk: { image: src } };
    return { volume, bootOrder: bootOrderOf(flag, bootorder) };
  });
  const claims = flags.claims.map((text): PlannedVolume => {
    const flag = 'volume-pvc';
    const { src = '', name, bootorder } = parseParameters(flag, text, ['src', 'name', 'bootorder'], ['src']);
    const volume = { name: name ?? src, persistentVolumeClaim: { claimName: src } };
    return { volume, bootOrder: bootOrderOf(flag, bootorder) };
  });
  const imports = flags.imports.map((text, index) => importedVolume(text, `${flags.name}-volume-${index}`));
  const all = [...containerDisks, ...claims, ...imports, ...sysprepVolumes(flags)];
  const names = all.map(({ volume }) => volume.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`two volumes are named ${twice}`);
  const orders = all.flatMap(({ bootOrder }) => (bootOrder === undefined ? [] : [bootOrder]));
  if (new Set(orders).size < orders.length) throw new UsageError('two volumes have the same bootorder');
  return all;
}

function sysprepVolumes({ sysprep }: MachineFlags): PlannedVolume[] {
  if (sysprep === undefined) return [];
  const flag = 'volume-sysprep';
  const { src = '', type = 'configMap' } = parseParameters(flag, sysprep, ['src', 'type'], ['src']);
  const source = oneOf(flag, type, ['configMap', 'secret']);
  return [{ volume: { name: 'sysprepdisk', sysprep: { [source]: { name: src } } } }];
}

function bootedFirst(planned: readonly PlannedVolume[]): string | undefined {
  const last = Number.POSITIVE_INFINITY;
  return [...planned].sort((a, b) => (a.bootOrder ?? last) - (b.bootOrder ?? last))[0]?.volume.name;
}

function matcher(
  word: 'Instancetype' | 'Preference',
  reference: string | undefined,
  inferFromVolume: string | undefined,
): InstancetypeMatcher | undefined {
  if (reference === undefined) return inferFromVolume === undefined ? undefined : { inferFromVolume };
  const { prefix, name } = splitReference(reference);
  const kinds = [`VirtualMachineCluster${word}`, `VirtualMachine${word}`] as const;
  const kind = prefix === undefined ? kinds[0] : oneOf(word.toLowerCase(), prefix, kinds);
  return { kind, name };
}

function accessCredential(text: string): AccessCredential {
  const flag = 'access-cred';
  const {
    src = '',
    type = 'ssh',
    method = 'ga',
    user,
  } = parseParameters(flag, text, ['src', 'type', 'method', 'user'], ['src']);
  const source = { secret: { secretName: src } };
  if (oneOf(flag, type, ['ssh', 'password']) === 'password')
    return { userPassword: { source, propagationMethod: { qemuGuestAgent: {} } } };
  switch (oneOf(flag, method, ['ga', 'nocloud', 'configdrive'])) {
    case 'ga':
      if (user === undefined) throw new UsageError('--access-cred: the guest agent needs user:USER');
      return { sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: [user] } } } };
    case 'nocloud':
      return { sshPublicKey: { source, propagationMethod: { noCloud: {} } } };
    case 'configdrive':
      return { sshPublicKey: { source, propagationMethod: { configDrive: {} } } };
  }
}
