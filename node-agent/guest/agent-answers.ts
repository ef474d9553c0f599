/** The QEMU guest agent's answers, as far as KubeVirt's types show them. */
import type {
  GuestAgentCommandInfo,
  VirtualMachineInstanceFileSystem,
  VirtualMachineInstanceGuestOSInfo,
  VirtualMachineInstanceGuestOSUser,
} from '../../openapi/generated/types/kubevirt_v1.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a guest sends is the guest's to choose: every field is checked. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** @param answer of `guest-get-osinfo` */
export function osInfo(answer: unknown): VirtualMachineInstanceGuestOSInfo {
  const os = fieldsOf(answer);
  return defined({
    id: textOf(os['id']),
    name: textOf(os['name']),
    prettyName: textOf(os['pretty-name']),
    version: textOf(os['version']),
    versionId: textOf(os['version-id']),
    kernelRelease: textOf(os['kernel-release']),
    kernelVersion: textOf(os['kernel-version']),
    machine: textOf(os['machine']),
  });
}

/** @param answer of `guest-get-host-name` */
export function hostName(answer: unknown): string | undefined {
  return textOf(fieldsOf(answer)['host-name']);
}

/** @param answer of `guest-get-timezone` */
export function timeZone(answer: unknown): string | undefined {
  const { zone, offset } = fieldsOf(answer);
  return numberOf(offset) === undefined ? undefined : `${textOf(zone) ?? ''}, ${String(offset)}`;
}

/** @param answer of `guest-info` */
export function agentVersion(answer: unknown): string | undefined {
  return textOf(fieldsOf(answer)['version']);
}

/** @param answer of `guest-info` */
export function agentCommands(answer: unknown): GuestAgentCommandInfo[] {
  return listOf(fieldsOf(answer)['supported_commands']).map(({ name, enabled }) => ({
    name: textOf(name) ?? '',
    enabled: enabled === true,
  }));
}

/** @param answer of `guest-get-users` */
export function users(answer: unknown): VirtualMachineInstanceGuestOSUser[] {
  return listOf(answer).map(({ user, domain, 'login-time': loginTime }) => ({
    userName: textOf(user) ?? '',
    ...defined({ domain: textOf(domain), loginTime: numberOf(loginTime) }),
  }));
}

/** @param answer of `guest-get-fsinfo` */
export function fileSystems(answer: unknown): VirtualMachineInstanceFileSystem[] {
  return listOf(answer).map((entry) => ({
    diskName: textOf(entry['name']) ?? '',
    mountPoint: textOf(entry['mountpoint']) ?? '',
    fileSystemType: textOf(entry['type']) ?? '',
    usedBytes: numberOf(entry['used-bytes']) ?? 0,
    totalBytes: numberOf(entry['total-bytes']) ?? 0,
    disk: listOf(entry['disk']).map((disk) => ({
      busType: textOf(disk['bus-type']) ?? '',
      ...defined({ serial: textOf(disk['serial']) }),
    })),
  }));
}
