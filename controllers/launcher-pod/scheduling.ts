/** Where a launcher pod may run. */
import type { PodSpec } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { labels } from '../constants.js';
import { processorLabels } from './processor-labels.js';
import type { LauncherPodSettings } from './settings.js';

type Scheduling = Pick<
  PodSpec,
  | 'nodeSelector'
  | 'affinity'
  | 'tolerations'
  | 'topologySpreadConstraints'
  | 'priorityClassName'
  | 'schedulerName'
>;

export function launcherScheduling(
  vmi: VirtualMachineInstance,
  { configuration }: LauncherPodSettings,
): Scheduling {
  const { spec } = vmi;
  return {
    nodeSelector: {
      ...configuration.developerConfiguration?.nodeSelectors,
      ...processorLabels(vmi),
      ...spec.nodeSelector,
      ...(spec.architecture === undefined || spec.architecture === ''
        ? {}
        : { 'kubernetes.io/arch': spec.architecture }),
      // Set by the node agent while it is able to run VMs.
      [labels.schedulable]: 'true',
    },
    ...(spec.affinity === undefined ? {} : { affinity: spec.affinity }),
    ...(spec.tolerations === undefined ? {} : { tolerations: spec.tolerations }),
    ...(spec.topologySpreadConstraints === undefined
      ? {}
      : { topologySpreadConstraints: spec.topologySpreadConstraints }),
    ...(spec.priorityClassName === undefined ? {} : { priorityClassName: spec.priorityClassName }),
    ...(spec.schedulerName === undefined ? {} : { schedulerName: spec.schedulerName }),
  };
}
