/** The columns of `kubectl get pods`. */
import type { ContainerStatus, Pod } from '../../openapi/generated/types/core_v1.js';
import type { Column } from '../registry/resource.js';
import { age, column } from './define.js';

const none = '<none>';

function waitingReason({ state }: ContainerStatus): string | undefined {
  return state?.waiting?.reason;
}

function terminatedReason({ state }: ContainerStatus): string | undefined {
  const terminated = state?.terminated;
  if (terminated === undefined) return undefined;
  if (terminated.reason !== undefined && terminated.reason !== '') return terminated.reason;
  return terminated.signal === undefined || terminated.signal === 0
    ? `ExitCode:${terminated.exitCode}`
    : `Signal:${terminated.signal}`;
}

/** What the first init container that is not done is up to; undefined when all are done. */
function initReason({ spec, status }: Pod): string | undefined {
  const containers = status?.initContainerStatuses ?? [];
  const index = containers.findIndex(({ state }) => state?.terminated?.exitCode !== 0);
  const current = containers[index];
  if (current === undefined) return undefined;
  const failed = terminatedReason(current);
  if (failed !== undefined) return `Init:${failed}`;
  const waiting = waitingReason(current);
  if (waiting !== undefined && waiting !== 'PodInitializing') return `Init:${waiting}`;
  return `Init:${index}/${spec?.initContainers?.length ?? containers.length}`;
}

function containerReason({ status }: Pod): string | undefined {
  for (const container of status?.containerStatuses ?? []) {
    const reason = waitingReason(container) ?? terminatedReason(container);
    if (reason !== undefined && reason !== '') return reason;
  }
  return undefined;
}

/** What the pod is doing, in a word: its phase, or what keeps it from it. */
export function podStatus(pod: Pod): string {
  const { metadata, status } = pod;
  const unknown = status?.reason === 'NodeLost';
  if (metadata.deletionTimestamp !== undefined) return unknown ? 'Unknown' : 'Terminating';
  const init = initReason(pod);
  if (init !== undefined) return init;
  const gated = status?.conditions?.find(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  if (gated?.reason !== undefined) return gated.reason;
  return containerReason(pod) ?? status?.reason ?? status?.phase ?? '';
}

function readyContainers({ spec, status }: Pod): string {
  const ready = status?.containerStatuses?.filter((container) => container.ready).length ?? 0;
  return `${ready}/${spec?.containers.length ?? 0}`;
}

function restarts({ status }: Pod): string {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return String(all.reduce((sum, { restartCount }) => sum + restartCount, 0));
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  const open = gates.filter(({ conditionType }) =>
    status?.conditions?.some((condition) => condition.type === conditionType && condition.status === 'True'),
  );
  return `${open.length}/${gates.length}`;
}

export const podColumns: readonly Column[] = [
  column('Ready', { description: 'How many containers are ready, of how many.' }, readyContainers),
  column('Status', { description: 'What the pod is doing.' }, podStatus),
  column('Restarts', { description: 'How often its containers were started again.' }, restarts),
  age,
  column(
    'IP',
    { description: 'Address of the pod.', wide: true },
    ({ status }: Pod) => status?.podIP ?? none,
  ),
  column(
    'Node',
    { description: 'Node that it runs on.', wide: true },
    ({ spec }: Pod) => spec?.nodeName ?? none,
  ),
  column(
    'Nominated Node',
    { description: 'Node that is cleared for it.', wide: true },
    ({ status }: Pod) => status?.nominatedNodeName ?? none,
  ),
  column(
    'Readiness Gates',
    { description: 'How many of its readiness gates are open.', wide: true },
    readinessGates,
  ),
];
