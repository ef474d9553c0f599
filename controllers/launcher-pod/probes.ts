/**
 * Probes of the guest, as the kubelet makes them. Those by network go to the pod's address, which is the guest's too; those by its
 * agent are made by the launcher's program in the container.
 */
import type { Container, Probe as PodProbe } from '../../openapi/generated/types/core_v1.js';
import type { Probe, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podDirectory } from '../../openapi/launcher/pod.js';

export function launcherProbes({
  spec,
}: VirtualMachineInstance): Pick<Container, 'livenessProbe' | 'readinessProbe'> {
  const livenessProbe = spec.livenessProbe && podProbe(spec.livenessProbe);
  const readinessProbe = spec.readinessProbe && podProbe(spec.readinessProbe);
  return {
    ...(livenessProbe === undefined ? {} : { livenessProbe }),
    ...(readinessProbe === undefined ? {} : { readinessProbe }),
  };
}

/** Undefined for a probe that names no check. */
function podProbe({ exec, guestAgentPing, httpGet, tcpSocket, ...times }: Probe): PodProbe | undefined {
  if (httpGet !== undefined) return { ...times, httpGet };
  if (tcpSocket !== undefined) return { ...times, tcpSocket };
  const seconds = times.timeoutSeconds ?? 1;
  if (exec !== undefined) return { ...times, exec: byAgent(seconds, exec.command ?? []) };
  return guestAgentPing === undefined ? undefined : { ...times, exec: byAgent(seconds, []) };
}

/** Without a command only whether the agent answers. */
function byAgent(seconds: number, command: readonly string[]): { command: string[] } {
  const program = ['nativirt', 'launcher', `--pod-dir=${podDirectory}`, `--probe-timeout=${seconds}`];
  return { command: [...program, '--probe', '--', ...command] };
}
