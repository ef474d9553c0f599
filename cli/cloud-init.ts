/** The cloud-init volume of `create vm`. */
import type { Volume } from '../openapi/generated/types/kubevirt_v1.js';
import { UsageError } from './errors.js';
import { oneOf } from './flag-parameters.js';
import type { MachineFlags } from './vm-manifest.js';

const volumeName = 'cloudinitdisk';

/** Undefined where nothing asks for one. Throws a `UsageError`. */
export function cloudInitVolume(flags: MachineFlags): Volume | undefined {
  const kind = oneOf('cloud-init', flags.cloudInit ?? 'noCloud', ['noCloud', 'configDrive', 'none']);
  const generated = userDataOf(flags);
  if (generated !== undefined && flags.userData !== undefined)
    throw new UsageError(
      '--cloud-init-user-data stands alone: leave --user, --password-file, --ssh-key and --ga-manage-ssh out',
    );
  const wanted = flags.cloudInit ?? flags.userData ?? flags.networkData ?? generated;
  if (wanted === undefined || kind === 'none') return undefined;
  const source = {
    ...(flags.userData === undefined ? {} : { userDataBase64: flags.userData }),
    ...(generated === undefined ? {} : { userData: generated }),
    ...(flags.networkData === undefined ? {} : { networkDataBase64: flags.networkData }),
  };
  return kind === 'noCloud'
    ? { name: volumeName, cloudInitNoCloud: source }
    : { name: volumeName, cloudInitConfigDrive: source };
}

/** JSON is YAML: whatever is in a password or a key stays what it is. */
function userDataOf({ user, password, sshKeys, agentManagesSsh }: MachineFlags): string | undefined {
  if (user === undefined && password === undefined && sshKeys.length === 0 && !agentManagesSsh)
    return undefined;
  const lines = [
    '#cloud-config',
    ...(user === undefined ? [] : [`user: ${JSON.stringify(user)}`]),
    ...(password === undefined
      ? []
      : [`password: ${JSON.stringify(password)}`, 'chpasswd: { expire: False }']),
    ...(sshKeys.length === 0
      ? []
      : ['ssh_authorized_keys:', ...sshKeys.map((key) => `  - ${JSON.stringify(key)}`)]),
    // Where SELinux keeps the agent from writing keys.
    ...(agentManagesSsh ? ['runcmd:', '  - [setsebool, -P, virt_qemu_ga_manage_ssh, "on"]'] : []),
  ];
  return lines.join('\n');
}
