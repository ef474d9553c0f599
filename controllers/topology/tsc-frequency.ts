/** The frequency of time stamp counters: which a node has, which it can give a guest, which a VMI needs. Pure. */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { labels } from '../constants.js';

const frequencyLabel = 'cpu-timer.node.kubevirt.io/tsc-frequency';
const scalableLabel = 'cpu-timer.node.kubevirt.io/tsc-scalable';
/** The frequency follows; the value is `true`. */
const schedulingPrefix = 'scheduling.node.kubevirt.io/tsc-frequency-';
/** Parts per million that a guest does not notice. */
const tolerance = 250e-6;

export const schedulingLabel = (frequency: number): string => `${schedulingPrefix}${frequency}`;

/** The frequency that a launcher was made for. */
export function scheduledFrequency({ spec }: Pod): number | undefined {
  const name = Object.keys(spec?.nodeSelector ?? {}).find((each) => each.startsWith(schedulingPrefix));
  return name === undefined ? undefined : Number(name.slice(schedulingPrefix.length));
}

/** Hz. Undefined: its counter is not invariant, or nobody knows it. */
export function frequencyOf({ metadata }: Node): number | undefined {
  const frequency = Number(metadata.labels?.[frequencyLabel]);
  return Number.isSafeInteger(frequency) && frequency > 0 ? frequency : undefined;
}

/** The guest counts on a frequency that never changes, not even when it moves. */
export function needsFrequency({ spec }: VirtualMachineInstance): boolean {
  const { cpu, features } = spec.domain;
  const invariant = cpu?.features?.some(
    ({ name, policy = 'require' }) => name === 'invtsc' && policy === 'require',
  );
  const { reenlightenment } = features?.hyperv ?? {};
  return invariant === true || (reenlightenment !== undefined && reenlightenment.enabled !== false);
}

/**
 * The frequency that guests which count on one are given, in Hz: the configured one, or the lowest that a schedulable node has. Nodes
 * that can scale theirs can give it too, so that most are left to choose from.
 */
export function guestFrequency(
  nodes: readonly Node[],
  { developerConfiguration }: KubeVirtConfiguration,
): number | undefined {
  const configured = developerConfiguration?.minimumClusterTSCFrequency ?? 0;
  if (configured > 0) return configured;
  const schedulable = nodes.filter(({ metadata }) => metadata.labels?.[labels.schedulable] === 'true');
  const frequencies = schedulable.flatMap((node) => frequencyOf(node) ?? []);
  return frequencies.length === 0 ? undefined : Math.min(...frequencies);
}

function supports(node: Node, frequency: number): boolean {
  const own = frequencyOf(node);
  if (own === undefined) return false;
  if (Math.abs(own - frequency) <= own * tolerance) return true;
  return node.metadata.labels?.[scalableLabel] === 'true' && frequency < own;
}

/** What has to change in its labels so that they name what it supports of `wanted`; undefined: nothing. */
export function labelChanges(
  node: Node,
  wanted: Iterable<number>,
): Record<string, 'true' | null> | undefined {
  const own = frequencyOf(node);
  const supported = [...wanted, ...(own === undefined ? [] : [own])].filter((each) => supports(node, each));
  const names = new Set(supported.map(schedulingLabel));
  const present = Object.keys(node.metadata.labels ?? {}).filter((name) => name.startsWith(schedulingPrefix));
  const changes = Object.fromEntries([
    ...present.filter((name) => !names.has(name)).map((name) => [name, null] as const),
    ...[...names].filter((name) => !present.includes(name)).map((name) => [name, 'true'] as const),
  ]);
  return Object.keys(changes).length === 0 ? undefined : changes;
}
