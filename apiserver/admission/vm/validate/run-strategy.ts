/** How a VM runs. */
import type {
  KubeVirtConfiguration,
  VirtualMachineSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, unknownWord, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';

const runStrategies = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once', 'WaitAsReceiver'];

export function runStrategyCauses(
  { running, runStrategy }: VirtualMachineSpec,
  at: FieldPath,
  configuration: KubeVirtConfiguration,
): StatusCause[] {
  if (running !== undefined && runStrategy !== undefined) {
    return [
      invalid(at.child('running'), 'running and runStrategy exclude each other: running is the older one'),
    ];
  }
  if (running === undefined && runStrategy === undefined) {
    return [invalid(at.child('running'), `runStrategy must be set: one of ${runStrategies.join(', ')}`)];
  }
  if (runStrategy === undefined) return [];
  if (runStrategy === 'WaitAsReceiver' && !featureEnabled(configuration, 'DecentralizedLiveMigration')) {
    return [
      invalid(at.child('runStrategy'), 'WaitAsReceiver needs the feature gate DecentralizedLiveMigration'),
    ];
  }
  if (runStrategies.includes(runStrategy)) return [];
  return [invalid(at.child('runStrategy'), unknownWord(runStrategy, runStrategies))];
}
