/** The whole status of a VMI, from what its launcher tells. Fields of the VMI controller are carried over. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceGuestOSInfo,
  VirtualMachineInstanceStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { DomainStatus, GuestInfo } from '../../openapi/launcher/protocol.js';
import { timestamp } from '../../controllers/runtime/clock.js';
import {
  withCondition,
  withoutCondition,
  type AnyCondition,
  type WantedCondition,
} from '../../controllers/runtime/conditions.js';
import type { NodePart } from '../launcher-session.js';
import { interfaceStatus } from './interfaces.js';
import { volumeStatus } from './volume-status.js';

/** How a VMI ended without its launcher saying so. */
export interface Failure {
  /** CamelCase. */
  readonly reason: string;
  /** A sentence. */
  readonly message: string;
}

export interface StatusInput {
  readonly vmi: VirtualMachineInstance;
  /** The launcher's newest word. */
  readonly domain: DomainStatus | undefined;
  /** Set: it has failed, whatever `domain` says. */
  readonly failure: Failure | undefined;
  /** False while its readiness probe does not succeed. */
  readonly ready: boolean;
  /** Milliseconds. */
  readonly now: number;
  readonly node: NodeFacts;
  /** What the node has made for it; undefined while it is not known. */
  readonly part: NodePart | undefined;
}

export interface NodeFacts {
  readonly launcherVersion: string | undefined;
  /** UID that guests run as on this node. */
  readonly runtimeUser: number;
}

export type Phase = 'Scheduled' | 'Running' | 'Succeeded' | 'Failed';

export function isFinalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Undefined: the phase stays. */
function nextPhase({ domain, failure }: StatusInput): Phase | undefined {
  if (failure !== undefined) return 'Failed';
  switch (domain?.state) {
    case 'Running':
    case 'Paused':
      return 'Running';
    case 'Shutoff':
      return 'Succeeded';
    // A guest with ACPI had its chance to end by itself.
    case 'Killed':
    case 'Failed':
      return 'Failed';
    case 'Waiting':
    case 'Preparing':
    case 'ShuttingDown':
    case undefined:
      return undefined;
  }
}

type Timestamps = NonNullable<VirtualMachineInstanceStatus['phaseTransitionTimestamps']>;

function withTransition({ vmi, now }: StatusInput, phase: Phase): Timestamps {
  const before = vmi.status?.phaseTransitionTimestamps ?? [];
  if (before.some((entry) => entry.phase === phase)) return before;
  return [...before, { phase, phaseTransitionTimestamp: timestamp(now) }];
}

function usesClaims({ spec }: VirtualMachineInstance): boolean {
  return (spec.volumes ?? []).some(
    ({ dataVolume, persistentVolumeClaim }) =>
      dataVolume !== undefined || persistentVolumeClaim !== undefined,
  );
}

const notReady = {
  reason: 'ReadinessProbeFailed',
  message: 'the readiness probe of the guest does not succeed',
};

/** As its pod's readiness gate says. */
const gateClosed = { reason: 'ReadinessGatesNotReady', message: 'the guest is paused' };

function readiness(ready: boolean, paused: boolean): WantedCondition {
  const type = 'Ready';
  if (paused) return { type, status: 'False', ...gateClosed };
  return ready ? { type, status: 'True' } : { type, status: 'False', ...notReady };
}

const notMigratable = { reason: 'NotMigratable', message: 'live migration is not available on this node' };

/** Undefined status: the condition is taken away. */
function runningConditions({
  vmi,
  domain,
  ready,
}: StatusInput): (WantedCondition | { type: string; status?: undefined })[] {
  const paused = domain?.state === 'Paused';
  const emulated = domain?.accelerator === 'tcg';
  return [
    readiness(ready, paused),
    { type: 'LiveMigratable', status: 'False', ...notMigratable },
    { type: 'StorageLiveMigratable', status: 'False', ...notMigratable },
    ...(usesClaims(vmi)
      ? [{ type: 'DataVolumesReady', status: 'True', reason: 'AllDVsReady' } as const]
      : []),
    domain?.guestAgentConnected === true
      ? { type: 'AgentConnected', status: 'True' }
      : { type: 'AgentConnected' },
    paused
      ? { type: 'Paused', status: 'True', reason: domain.reason, message: domain.message }
      : { type: 'Paused' },
    credentialsCondition(domain),
    emulated
      ? { type: 'SoftwareEmulation', status: 'True', reason: 'KVMNotUsable', message: emulationMessage }
      : { type: 'SoftwareEmulation' },
  ];
}

/** Only where the guest agent has keys or passwords to set. */
function credentialsCondition(
  domain: DomainStatus | undefined,
): WantedCondition | { type: string; status?: undefined } {
  const type = 'AccessCredentialsSynchronized';
  const report = domain?.accessCredentials;
  if (report === undefined) return { type };
  if (report.synchronized) return { type, status: 'True' };
  return { type, status: 'False', reason: 'GuestAgentFailed', message: report.message };
}

export const emulationMessage =
  'the guest is emulated in software, which is slow: /dev/kvm is not usable on this node';

function endedConditions(
  failure: Failure | undefined,
): (WantedCondition | { type: string; status?: undefined })[] {
  return [
    { type: 'Ready', status: 'False', reason: 'GuestNotRunning', message: 'the guest is not running' },
    { type: 'AgentConnected' },
    { type: 'Paused' },
    ...(failure === undefined ? [] : [{ type: 'Synchronized', status: 'False', ...failure } as const]),
  ];
}

/** The failure of a VMI whose launcher says that it has failed, or that is failed otherwise. */
export function failureOf({ domain, failure }: Pick<StatusInput, 'domain' | 'failure'>): Failure | undefined {
  if (failure !== undefined) return failure;
  if (domain?.state !== 'Failed' && domain?.state !== 'Killed') return undefined;
  return { reason: domain.reason, message: domain.message };
}

function guestOSInfo({ os = {} }: GuestInfo): VirtualMachineInstanceGuestOSInfo | undefined {
  const fields = {
    id: os['id'],
    name: os['name'],
    prettyName: os['pretty-name'],
    version: os['version'],
    versionId: os['version-id'],
    kernelRelease: os['kernel-release'],
    kernelVersion: os['kernel-version'],
    machine: os['machine'],
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

function runningFields(input: StatusInput): VirtualMachineInstanceStatus {
  const { vmi, domain, node, part } = input;
  const before = vmi.status ?? {};
  const guestOS = domain?.guest === undefined ? undefined : guestOSInfo(domain.guest);
  const volumes = volumeStatus(vmi);
  return {
    ...(domain?.machineType === undefined ? {} : { machine: { type: domain.machineType } }),
    ...(guestOS === undefined ? {} : { guestOSInfo: guestOS }),
    ...(volumes.length === 0 ? {} : { volumeStatus: volumes }),
    ...(part === undefined ? {} : { interfaces: interfaceStatus(vmi, domain?.guest, part.network) }),
    fsFreezeStatus: domain?.fileSystemsFrozen === true ? 'frozen' : undefined,
    runtimeUser: before.runtimeUser ?? node.runtimeUser,
    ...(node.launcherVersion === undefined ? {} : { launcherContainerImageVersion: node.launcherVersion }),
  };
}

function applyConditions(
  before: readonly AnyCondition[] | undefined,
  wanted: readonly (WantedCondition | { type: string; status?: undefined })[],
  now: number,
): AnyCondition[] {
  let conditions: AnyCondition[] = [...(before ?? [])];
  for (const condition of wanted) {
    conditions =
      condition.status === undefined
        ? withoutCondition(conditions, condition.type)
        : withCondition(conditions, condition, now);
  }
  return conditions;
}

/** Equal to the present status where nothing changes its meaning. */
export function nextStatus(input: StatusInput): VirtualMachineInstanceStatus {
  const { vmi, now } = input;
  const before = vmi.status ?? {};
  const phase = nextPhase(input);
  if (phase === undefined) return before;
  const failure = failureOf(input);
  const running = phase === 'Running';
  return {
    ...before,
    phase,
    phaseTransitionTimestamps: withTransition(input, phase),
    ...(running ? runningFields(input) : {}),
    ...(failure === undefined ? {} : { reason: failure.reason }),
    conditions: applyConditions(
      before.conditions,
      running ? runningConditions(input) : endedConditions(failure),
      now,
    ),
  };
}
