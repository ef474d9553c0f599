/** The events that tell a VMI's story on its node. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DomainStatus } from '../../openapi/launcher/protocol.js';
import type { EventRecorder } from '../../controllers/runtime/event-recorder.js';
import { isConditionTrue } from '../../controllers/runtime/conditions.js';
import { emulationMessage, type Failure } from './status.js';

export interface Transition {
  readonly before: VirtualMachineInstance;
  readonly after: VirtualMachineInstance;
  readonly domain: DomainStatus | undefined;
  readonly failure: Failure | undefined;
}

/** Called once for each status that was written. */
export function recordTransition(recorder: EventRecorder, transition: Transition): void {
  const { before, after, domain, failure } = transition;
  const from = before.status?.phase;
  const to = after.status?.phase;
  if (from !== to) recordPhase(recorder, transition, to);
  if (to !== 'Running') return;
  const paused = isConditionTrue(after.status?.conditions, 'Paused');
  const wasPaused = isConditionTrue(before.status?.conditions, 'Paused');
  if (paused && !wasPaused) {
    const why = domain === undefined || domain.message === '' ? 'The guest is paused' : domain.message;
    recorder.event(after, 'Normal', 'Paused', why);
  }
  if (!paused && wasPaused && failure === undefined)
    recorder.event(after, 'Normal', 'Resumed', 'The guest runs again');
}

function recordPhase(
  recorder: EventRecorder,
  { after, domain, failure }: Transition,
  phase: string | undefined,
): void {
  switch (phase) {
    case 'Running': {
      const version = domain?.qemuVersion === undefined ? 'QEMU' : `QEMU ${domain.qemuVersion}`;
      const how = domain?.accelerator === undefined ? '' : ` with ${domain.accelerator.toUpperCase()}`;
      const node = after.status?.nodeName ?? '';
      recorder.event(after, 'Normal', 'Started', `Guest started in ${version}${how} on node ${node}`);
      if (domain?.accelerator === 'tcg')
        recorder.event(after, 'Warning', 'SoftwareEmulation', upper(emulationMessage));
      return;
    }
    case 'Succeeded':
      recorder.event(after, 'Normal', 'Stopped', domain?.message ?? 'The guest was shut down');
      return;
    case 'Failed':
      recorder.event(
        after,
        'Warning',
        failure?.reason ?? 'Stopped',
        failure?.message ?? 'The guest has failed',
      );
      return;
    default:
      return;
  }
}

function upper(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
