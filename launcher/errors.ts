/** Packages of the programs that the launcher runs beside QEMU; the others are util-linux's. */
const helperPackages: Readonly<Record<string, string>> = {
  swtpm: 'swtpm',
  virtiofsd: 'virtiofsd',
  passt: 'passt',
};

/**
 * Why a domain fails, in words for its user: what was wrong, where, and what would be right. The key is the reason that
 * conditions and events carry.
 */
const failures = {
  QEMUMissing: (binary: string) =>
    `QEMU is not installed on this node: no executable ${binary} was found. On Debian or Ubuntu install the packages qemu-system-x86 and qemu-utils, on Fedora qemu-kvm and qemu-img.`,
  KVMMissing: (why: string) =>
    `The node can not run it with KVM: ${why}. Use a node with hardware virtualisation, or set developerConfiguration.useEmulation in the KubeVirt object.`,
  HelperMissing: (binary: string) =>
    `The program ${binary} is missing on this node. On Debian, Ubuntu and Fedora install the package ${helperPackages[binary] ?? 'util-linux'}.`,
  HelperFailed: (name: string, why: string) => `${name}, which serves QEMU, did not start: ${why}.`,
  FirmwareMissing: (what: string) =>
    `No ${what} was found on this node. On Debian or Ubuntu install the package ovmf, on Fedora edk2-ovmf.`,
  UnsupportedField: (path: string, why: string) => `${path} cannot be honoured: ${why}.`,
  InvalidField: (path: string, why: string) => `${path} is not valid: ${why}.`,
  ImageNotFound: (volume: string, path: string) =>
    `The image of volume ${volume} is not there: expected a disk image at ${path} in the pod directory. Check that the image exists and holds a file under /disk.`,
  ImageRefused: (volume: string, why: string) => `The image of volume ${volume} was refused: ${why}.`,
  VolumeMissing: (volume: string, path: string) =>
    `Volume ${volume} is not mounted: expected ${path} in the pod directory.`,
  VolumeRefused: (volume: string, why: string) => `Volume ${volume} was refused: ${why}.`,
  VolumeTooSmall: (volume: string, asked: number, free: number) =>
    `Volume ${volume} has ${free} bytes free, too few for a disk image of ${asked} bytes. Free space or ask for a larger volume, then start the virtual machine again. The cluster's minimumReservePVCBytes and pvcTolerateLessSpaceUpToPercent say how much less is tolerated.`,
  DiskFull: (path: string) =>
    `There is no space left on the node to write ${path}. Free space or ask for a smaller disk, then start the virtual machine again.`,
  DiskFailed: (path: string, why: string) => `${path} could not be prepared: ${why}.`,
  QEMURefused: (why: string, log: string) => `QEMU did not start: ${why}.${tail(log)}`,
  QEMUCrashed: (how: string, log: string) => `QEMU ended unexpectedly (${how}).${tail(log)}`,
  QEMUTerminated: (signal: string) =>
    `QEMU was ended from outside by ${signal}; nothing in this cluster had asked for it.`,
  WatchdogExpired: () =>
    'The guest did not feed its watchdog, which powered the machine off, as spec.domain.devices.watchdog says.',
  GuestPanicked: () => 'The guest operating system reported a panic. Its console shows why.',
  LauncherFailed: (why: string) => `The launcher failed: ${why}.`,
} as const;

function tail(log: string): string {
  return log === '' ? '' : ` Last lines of qemu.log: ${log}`;
}

export type FailureReason = keyof typeof failures;

export class LauncherError extends Error {
  override readonly name = 'LauncherError';
  constructor(
    readonly reason: FailureReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function failure<R extends FailureReason>(
  reason: R,
  ...details: Parameters<(typeof failures)[R]>
): LauncherError {
  const describe = failures[reason] as (...details: Parameters<(typeof failures)[R]>) => string;
  return new LauncherError(reason, describe(...details));
}

export function toLauncherError(error: unknown): LauncherError {
  if (error instanceof LauncherError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new LauncherError('LauncherFailed', failures.LauncherFailed(why), { cause: error });
}

/** The errno name of a failed system call (`ENOENT`), if it is one. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
