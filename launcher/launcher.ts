import type { Socket } from 'node:net';
import { interfacesOf } from '../openapi/launcher/interfaces.js';
import type { LauncherNetwork } from '../openapi/launcher/network.js';
import { podLayout, type DomainStatus } from '../openapi/launcher/protocol.js';
import { AccessCredentials } from './access-credentials.js';
import type { Clock } from './clock.js';
import { ConsoleLog } from './console-log.js';
import { Console } from './console.js';
import type { MachineChannels } from './control/methods.js';
import { refuseSecond, serveControl } from './control/server.js';
import { isFinal } from './domain-states.js';
import { Domain, type DomainObserver } from './domain.js';
import { FileSystemFreeze } from './freeze.js';
import { GuestAgent } from './guest-agent.js';
import { GuestInfoPoller } from './guest-info.js';
import type { Launch, LaunchRequest, Machine } from './launch.js';
import type { Logger } from './log.js';
import { DirectPorts, guestHost } from './network/direct-ports.js';
import { PortForwarder, type GuestPorts } from './port-forward.js';
import { guestAddressOf } from './guest-address.js';
import { netdevId } from './qemu/network.js';
import type { Qemu } from './qemu/process.js';
import { collectStatistics } from './statistics/collect.js';
import { StatusStore } from './status.js';

export interface VirtualMachineOptions {
  readonly uid: string;
  readonly launch: Launch;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Registers what a termination signal does. */
  readonly onSignal: (stop: () => void) => void;
}

/** KubeVirt's default, for a signal that comes before the VMI has told its own. */
const defaultGraceSeconds = 30;
/** How long the launcher stays for someone to read its last status. */
const lastStatusMs = 5000;

/**
 * Waits for the VMI on the control socket of the working directory, runs it, and ends when it has ended and somebody has
 * heard of it.
 * @returns the exit status
 */
export async function runVirtualMachine(options: VirtualMachineOptions): Promise<number> {
  const { uid, clock, logger, onSignal } = options;
  await refuseSecond(podLayout.controlSocket);
  const status = new StatusStore(uid, logger);
  const channels = new Channels(status, clock, logger);
  let graceSeconds = defaultGraceSeconds;
  const launch: Launch = (request) => {
    graceSeconds = request.vmi.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds;
    channels.prepare(request);
    return options.launch(request);
  };
  const domain = new Domain({ launch, status, clock, logger, observer: channels });
  const ended = lastStatusRead(status, clock);
  const control = await serveControl(podLayout.controlSocket, {
    target: { uid, domain, channels },
    status,
    onStatusSent: (sent) => ended.sent(sent),
  });
  onSignal(() => {
    logger.info('a signal asks the launcher to end', { graceSeconds });
    domain.shutdown(graceSeconds);
  });
  logger.info('the launcher listens', { socket: podLayout.controlSocket });
  await ended.promise;
  control.close();
  return status.current.state === 'Failed' ? 1 : 0;
}

/** Settles when the final status has been sent to a client, or nobody has come for it. */
function lastStatusRead(status: StatusStore, clock: Clock) {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  let cancelWait = () => {};
  const finish = () => {
    cancelWait();
    resolve();
  };
  status.subscribe(({ state }) => {
    if (isFinal(state)) cancelWait = clock.after(lastStatusMs, finish);
  });
  const sent = ({ state }: DomainStatus) => {
    if (isFinal(state)) finish();
  };
  return { promise, sent };
}

/** Names of interfaces, by tap device. */
function tapsOf(network: LauncherNetwork | undefined): ReadonlyMap<string, string> {
  const made = Object.entries(network?.interfaces ?? {});
  return new Map(made.flatMap(([name, entry]) => (entry.kind === 'tap' ? [[entry.device, name]] : [])));
}

/** The ways into the machine while it is there. */
class Channels implements DomainObserver, MachineChannels {
  console: Console | undefined = new Console();
  agent: GuestAgent | undefined;
  freeze: FileSystemFreeze | undefined;
  qmp: Qemu['qmp'] | undefined;
  ports: GuestPorts | undefined;
  statistics: MachineChannels['statistics'];
  private request: LaunchRequest | undefined;
  private poller: GuestInfoPoller | undefined;
  private credentials: AccessCredentials | undefined;
  private log: ConsoleLog | undefined;
  private serial: Socket | undefined;

  constructor(
    private readonly status: StatusStore,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  prepare(request: LaunchRequest): void {
    this.request = request;
    const { settings, vmi } = request;
    const { autoattachSerialConsole, logSerialConsole = settings.logSerialConsole } = vmi.spec.domain.devices;
    if (autoattachSerialConsole === false) {
      this.console?.end();
      this.console = undefined;
      return;
    }
    if (!logSerialConsole) return;
    const log = new ConsoleLog(podLayout.consoleLog);
    this.log = log;
    this.console?.recordTo(
      (chunk) => log.append(chunk),
      () => log.content(),
    );
  }

  machineStarted({ qemu }: Machine): void {
    this.serial = qemu.serial;
    if (qemu.serial) this.console?.connect(qemu.serial);
    this.agent = new GuestAgent(qemu.agent, this.clock);
    this.qmp = qemu.qmp;
    const setFrozen = (fileSystemsFrozen: boolean) => {
      if ((this.status.current.fileSystemsFrozen ?? false) === fileSystemsFrozen) return;
      this.status.update({ fileSystemsFrozen });
    };
    this.freeze = new FileSystemFreeze(this.agent, setFrozen, this.logger, this.clock);
    this.ports = this.guestPorts(qemu.qmp);
    const publish = (guest: DomainStatus['guest']) => this.status.update({ guest });
    this.poller = new GuestInfoPoller(this.agent, publish, this.clock, this.logger);
    this.followVmi(qemu, this.agent);
  }

  private followVmi({ pid: qemuPid, qmp }: Qemu, agent: GuestAgent): void {
    const { request, clock, logger } = this;
    if (!request) return;
    const { vmi, network, settings } = request;
    const taps = tapsOf(network);
    this.statistics = () =>
      collectStatistics({
        vmi,
        settings,
        qemuPid,
        qmp,
        agent: agent.isConnected ? agent : undefined,
        taps,
      });
    const publish = (accessCredentials: DomainStatus['accessCredentials']) =>
      this.status.update({ accessCredentials });
    this.credentials = new AccessCredentials({ vmi, agent, publish, clock, logger });
  }

  /** By way of the first interface. */
  private guestPorts(qmp: Qemu['qmp']): GuestPorts | undefined {
    const { request, status } = this;
    if (!request) return undefined;
    const { vmi, network } = request;
    const [first] = interfacesOf(vmi);
    if (!first) return undefined;
    const made = network?.interfaces[first.name];
    const host = made && guestHost(made);
    if (host !== undefined) return new DirectPorts(host);
    return new PortForwarder(qmp, netdevId(first.name), () => guestAddressOf(vmi, status.current.guest));
  }

  agentChanged(open: boolean): void {
    this.agent?.setConnected(open);
    this.freeze?.forget();
    this.status.update({ guestAgentConnected: open });
    for (const follower of [this.poller, this.credentials])
      if (open) follower?.start();
      else follower?.stop();
  }

  machineEnded(): void {
    this.poller?.stop();
    this.credentials?.stop();
    this.agent?.setConnected(false);
    this.freeze?.forget();
    this.qmp = undefined;
    this.statistics = undefined;
    this.ports = undefined;
    // The console ends with the serial port, when the guest's last words have been read.
    if (!this.serial || this.serial.closed) this.closeConsole();
    else this.serial.once('close', () => this.closeConsole());
  }

  private closeConsole(): void {
    this.console?.end();
    this.log?.close();
  }
}
