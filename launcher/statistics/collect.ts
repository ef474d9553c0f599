import { readFile } from 'node:fs/promises';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { MachineSettings } from '../../openapi/launcher/settings.js';
import type { MachineStatistics, VcpuStatistics } from '../../openapi/launcher/statistics.js';
import type { GuestAgent } from '../guest-agent.js';
import { GuestAgentError } from '../guest-agent.js';
import { QmpError } from '../qmp/errors.js';
import type { QmpClient } from '../qmp/client.js';
import { balloonPath } from '../qemu/devices.js';
import { guestMemory } from '../qemu/memory.js';
import { residentMemory, runDelay, tapTraffic, taskTimes } from './proc.js';
import {
  balloonSize,
  diskStatistics,
  fileSystemStatistics,
  guestMemoryStatistics,
  vcpuThreads,
} from './qemu.js';

/** A metrics scrape does not wait longer for a guest. */
const agentTimeoutMs = 2000;

export interface StatisticsSources {
  readonly qemuPid: number;
  readonly qmp: Pick<QmpClient, 'execute'>;
  /** Undefined while it is not connected. */
  readonly agent: Pick<GuestAgent, 'execute'> | undefined;
  readonly vmi: VirtualMachineInstance;
  readonly settings: MachineSettings;
  /** Names of interfaces, by tap device. */
  readonly taps: ReadonlyMap<string, string>;
  readonly readProc?: (path: string) => Promise<string>;
}

/** Rejects when QEMU is gone. */
export async function collectStatistics(sources: StatisticsSources): Promise<MachineStatistics> {
  const { qemuPid, qmp, agent, vmi, settings, taps } = sources;
  const { domain } = vmi.spec;
  const readProc = sources.readProc ?? ((path: string) => readFile(`/proc/${path}`, 'utf8'));
  const ask = (command: string, parameters?: Readonly<Record<string, unknown>>) =>
    unlessRefused(() => qmp.execute(command, parameters));
  const cpus = vcpuThreads(await ask('query-cpus-fast'));
  const balloon = balloonSize(await ask('query-balloon'));
  // A driver tells its counters once when it starts, even where nobody will ask for newer ones.
  const memory =
    settings.balloonStatsPeriod > 0
      ? guestMemoryStatistics(await ask('qom-get', { path: balloonPath, property: 'guest-stats' }))
      : undefined;
  const { user, system } = taskTimes(await readProc(`${qemuPid}/stat`));
  const fileSystems = await unlessRefused(async () =>
    agent?.execute('guest-get-fsinfo', undefined, agentTimeoutMs),
  );
  const vcpu = async ({ id, thread }: (typeof cpus)[number]): Promise<VcpuStatistics> => {
    const task = `${qemuPid}/task/${thread}`;
    const times = taskTimes(await readProc(`${task}/stat`));
    return {
      id,
      used: times.user + times.system,
      delayed: runDelay(await readProc(`${task}/schedstat`)),
      blocked: times.blocked,
    };
  };
  return {
    cpu: { user, system },
    vcpus: await Promise.all(cpus.map(vcpu)),
    memory: {
      domain: guestMemory(domain),
      resident: residentMemory(await readProc(`${qemuPid}/status`)),
      ...(balloon === undefined ? {} : { balloon }),
      ...(memory === undefined ? {} : { guest: memory }),
    },
    disks: diskStatistics(
      await ask('query-blockstats'),
      (domain.devices.disks ?? []).map(({ name }) => name),
    ),
    interfaces: taps.size === 0 ? [] : tapTraffic(await readProc(`${qemuPid}/net/dev`), taps),
    fileSystems: fileSystemStatistics(fileSystems),
  };
}

/** Not every machine has a balloon, not every guest an agent, and not every agent every command. */
async function unlessRefused(question: () => Promise<unknown>): Promise<unknown> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof GuestAgentError || (error instanceof QmpError && error.kind === 'refused'))
      return undefined;
    throw error;
  }
}
