/**
 * How a node agent talks to a launcher: newline-delimited JSON-RPC 2.0 over the unix socket `launcher.sock` in the pod
 * directory. Several connections at once are fine; the VM does not depend on any of them.
 *
 * `console` and `portForward` are special: after their successful answer the connection stops being JSON-RPC and carries raw
 * bytes both ways until one end closes it.
 */
import type { VirtualMachineInstance } from '../generated/types/kubevirt_v1.js';
import type { LauncherNetwork } from './network.js';
import type { MachineSettings } from './settings.js';
import type { MachineStatistics } from './statistics.js';

/**
 * The pod directory, as both sides see it. The kubelet (or, standalone, the local pod runtime) fills `volumes/` before
 * the launcher starts; the launcher owns the rest. Paths are relative to the pod directory, which is the launcher's
 * and QEMU's working directory (unix socket paths are limited to 107 bytes).
 */
export const podLayout = {
  controlSocket: 'launcher.sock',
  log: 'launcher.log',
  /** What the guest says on its serial console, unless the VMI or the configuration does not want it kept. */
  consoleLog: 'guest-console.log',
  /** The last `DomainStatus`, rewritten atomically on every change and left behind when the launcher ends. */
  status: 'status.json',
  /**
   * `volumes/<volume name>`: a directory (or a link to one) with the files of a secret, config map, token or container disk,
   * with the claim's or the host's directory; or the block device (or a link to it) of a block PVC. Cloud-init secrets lie
   * in their volume's directory as files named by their keys: `userdata`, `networkdata`.
   */
  volumes: 'volumes',
  /** `volumes/<volume name>/disk.img` for container disks and filesystem PVCs; host disks keep their own file name. */
  diskFile: 'disk.img',
  /** `volumes/kernel-boot/{kernel,initrd}` for kernelBoot.container. */
  kernelBoot: 'volumes/kernel-boot',
  /** What the launcher makes: overlays, empty disks, cloud-init images. */
  disks: 'disks',
  qemu: 'qemu',
  qmpSocket: 'qemu/qmp.sock',
  serialSocket: 'qemu/serial0.sock',
  guestAgentSocket: 'qemu/agent.sock',
  /** QEMU listens here for VNC clients, unless the VMI has no graphics device. */
  vncSocket: 'qemu/vnc.sock',
  /** `<prefix><number>.sock`: QEMU listens for clients that speak the usbredir protocol. */
  usbRedirectionSockets: 'qemu/usbredir',
  tpmSocket: 'qemu/tpm.sock',
  downwardMetricsSocket: 'qemu/metrics.sock',
  /** The state of a TPM that ends with the pod. */
  tpmState: 'tpm',
  /** What outlives the pod, where the VMI asks for it: the TPM's state and the EFI variables. */
  persistentState: 'volumes/persistent-state',
  qemuPidFile: 'qemu/qemu.pid',
  qemuLog: 'qemu/qemu.log',
} as const;

/**
 * `Waiting`: started, no VMI yet. `Preparing`: making disks. `Running` and `Paused` follow QEMU. `ShuttingDown`: asked to
 * end. `Shutoff`, `Failed` and `Killed` are final: the guest powered off by itself or on request; QEMU could not be
 * started or died; it was killed after the grace period.
 */
export type DomainState =
  'Waiting' | 'Preparing' | 'Running' | 'Paused' | 'ShuttingDown' | 'Shutoff' | 'Failed' | 'Killed';

export const finalStates: readonly DomainState[] = ['Shutoff', 'Failed', 'Killed'];

export interface DomainStatus {
  /** Grows with every change, so that a reader knows which of two is newer. */
  readonly sequence: number;
  readonly state: DomainState;
  /** A CamelCase word for conditions and events: `GuestShutdown`, `DiskFull`, `QEMUMissing`, `QEMUCrashed` … */
  readonly reason: string;
  /** A sentence for the user: what went wrong, where, and what would be right. */
  readonly message: string;
  /** UID of the VMI that it runs. */
  readonly uid: string | undefined;
  readonly qemuPid: number | undefined;
  /** `kvm`, or `tcg` where /dev/kvm is not usable. */
  readonly accelerator: 'kvm' | 'tcg' | undefined;
  readonly machineType: string | undefined;
  readonly qemuVersion: string | undefined;
  readonly guestAgentConnected: boolean;
  readonly guest: GuestInfo | undefined;
  /** The guest's file systems hold still, for a snapshot. */
  readonly fileSystemsFrozen?: boolean;
  /** Absent where the guest agent has no keys or passwords to set. `message` says why they are not set. */
  readonly accessCredentials?: { readonly synchronized: boolean; readonly message: string };
}

/** What the guest agent has told. */
export interface GuestInfo {
  readonly os?: Readonly<Record<string, string>>;
  readonly hostname?: string;
  readonly interfaces?: readonly {
    readonly name: string;
    readonly mac?: string;
    readonly addresses: readonly string[];
  }[];
}

/** The methods, with their parameters and results. */
export interface LauncherMethods {
  status: { params: undefined; result: DomainStatus };
  /** From here on the connection also gets `statusChanged` notifications, the present status first. */
  subscribe: { params: undefined; result: DomainStatus };
  /**
   * Makes the disks and starts QEMU. Answers at once with `Preparing`; `Running`, `Paused` or `Failed` comes as a change of
   * the status. Idempotent for one UID; another UID is refused. Without a network the guest gets QEMU's user-mode one.
   * Settings that are not given, as by an agent of an earlier version, are the default ones.
   */
  start: {
    params: { vmi: VirtualMachineInstance; network?: LauncherNetwork; settings?: Partial<MachineSettings> };
    result: DomainStatus;
  };
  /** Cuts or joins the cable of an interface, by the name that the spec has for it. */
  setLink: { params: { name: string; up: boolean }; result: DomainStatus };
  /** ACPI power button, then SIGKILL after the grace period (seconds). Answers at once; 0 kills at once. */
  shutdown: { params: { gracePeriodSeconds: number }; result: DomainStatus };
  pause: { params: undefined; result: DomainStatus };
  unpause: { params: undefined; result: DomainStatus };
  reset: { params: undefined; result: DomainStatus };
  /** The guest reboots itself: asked by its agent, or else by the power button, and then the machine is reset. */
  softReboot: { params: undefined; result: DomainStatus };
  /** Freezes the guest's file systems; thawed by itself after the timeout, 0 for never. Frozen ones stay so. */
  freeze: { params: { unfreezeTimeoutSeconds: number }; result: DomainStatus };
  unfreeze: { params: undefined; result: DomainStatus };
  /** What the display shows, as a PNG image in base64. `moveCursor` wakes a screen saver first. */
  screenshot: { params: { moveCursor: boolean }; result: { png: string } };
  /**
   * Attach to the serial console. One writer at a time: a second gets `consoleBusy`, unless it asks to read only or to take
   * over (`force`: the first is closed with a message). Readers are as many as like. `history` tells what the guest has said, as
   * far as it is kept, and ends.
   */
  console: { params: { mode: 'write' | 'read' | 'force' | 'history' }; result: { writer: boolean } };
  /** A connection to a port of the guest. UDP datagrams go in frames: two bytes of length, big endian, then the payload. */
  portForward: { params: { port: number; protocol: 'tcp' | 'udp' }; result: null };
  /** Counters of QEMU, of what Linux knows of it, and of the guest. */
  statistics: { params: undefined; result: MachineStatistics };
  /** One command of the QEMU guest agent. */
  guestAgent: { params: { execute: string; arguments?: Record<string, unknown> }; result: unknown };
}

export interface LauncherNotifications {
  statusChanged: DomainStatus;
}

/** JSON-RPC error codes beside the standard ones. */
export const launcherErrorCodes = {
  /** It runs another VMI. */
  wrongVirtualMachineInstance: 1,
  /** The state does not allow it: no QEMU to pause. */
  invalidState: 2,
  /** Somebody writes to the console already. */
  consoleBusy: 3,
  /** The guest agent is not connected, or did not answer in time. */
  guestAgentUnavailable: 4,
  /** QEMU refused the command. */
  qemu: 5,
} as const;
