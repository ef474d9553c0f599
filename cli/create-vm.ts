/** `kubectl virt create vm`: a manifest of a virtual machine, from flags, for kubectl to create. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { VirtualMachine } from '../openapi/generated/types/kubevirt_v1.js';
import type { Command, OptionValues } from './command.js';
import { UsageError } from './errors.js';
import { buildVirtualMachine, runStrategies, type MachineFlags } from './vm-manifest.js';

const once = { type: 'string' } as const;
const many = { type: 'string', multiple: true } as const;
const toggle = { type: 'boolean' } as const;

export const createVm: Command = {
  name: 'create vm',
  synopsis: '',
  summary: 'print the manifest of a virtual machine',
  options: {
    name: once,
    'run-strategy': once,
    'termination-grace-period': once,
    memory: once,
    instancetype: once,
    'infer-instancetype': toggle,
    'infer-instancetype-from': once,
    preference: once,
    'infer-preference': toggle,
    'infer-preference-from': once,
    'volume-containerdisk': many,
    'volume-pvc': many,
    'volume-import': many,
    'volume-sysprep': once,
    'access-cred': many,
    user: once,
    'password-file': once,
    'ssh-key': many,
    'ga-manage-ssh': toggle,
    'cloud-init': once,
    'cloud-init-user-data': once,
    'cloud-init-network-data': once,
  },
  optionHelp: {
    name: 'name of the machine (default: a random one)',
    'run-strategy': `${runStrategies.join(', ')} (default Always)`,
    'termination-grace-period': 'seconds that the guest gets to shut down (default 180)',
    memory: 'memory of the guest (default 512Mi, without an instancetype)',
    instancetype: '[virtualmachineinstancetype/]NAME; a cluster-wide one by default',
    'infer-instancetype': 'take the instancetype from the volume that is booted first',
    'infer-instancetype-from': 'take it from the volume of this name',
    preference: '[virtualmachinepreference/]NAME; a cluster-wide one by default',
    'infer-preference': 'take the preference from the volume that is booted first',
    'infer-preference-from': 'take it from the volume of this name',
    'volume-containerdisk': 'src:IMAGE[,name:NAME][,bootorder:N]',
    'volume-pvc': 'src:CLAIM[,name:NAME][,bootorder:N]',
    'volume-import': 'type:(blank | ds | gcs | http | imageio | pvc | registry | s3 | snapshot | vddk),…',
    'volume-sysprep': 'src:NAME[,type:(configMap | secret)]',
    'access-cred': 'src:SECRET[,type:(ssh | password)][,method:(ga | nocloud | configdrive)][,user:USER]',
    user: 'user that cloud-init sets up',
    'password-file': 'file with the password of that user',
    'ssh-key': 'public key that may log in',
    'ga-manage-ssh': 'let the guest agent manage SSH keys',
    'cloud-init': 'noCloud, configDrive or none (default noCloud)',
    'cloud-init-user-data': 'user data, in base64',
    'cloud-init-network-data': 'network data, in base64',
  },
  async runLocally(terminal, values, positionals) {
    if (positionals.length > 0)
      throw new UsageError(`what is ${JSON.stringify(positionals.join(' '))}? The name goes behind --name`);
    const machine = buildVirtualMachine(await flagsOf(values));
    terminal.output.write(await asYaml(machine));
  },
};

async function flagsOf(values: OptionValues): Promise<MachineFlags> {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const list = (name: string): string[] => {
    const value = values[name];
    return Array.isArray(value) ? value.map(String) : [];
  };
  const passwordFile = text('password-file');
  const password = passwordFile === undefined ? undefined : (await readFile(passwordFile, 'utf8')).trim();
  return {
    name: text('name') ?? `vm-${randomBytes(3).toString('hex')}`,
    runStrategy: text('run-strategy') ?? 'Always',
    gracePeriod: text('termination-grace-period') ?? '180',
    memory: text('memory'),
    instancetype: text('instancetype'),
    inferInstancetype: values['infer-instancetype'] === true,
    inferInstancetypeFrom: text('infer-instancetype-from'),
    preference: text('preference'),
    inferPreference: values['infer-preference'] === true,
    inferPreferenceFrom: text('infer-preference-from'),
    containerDisks: list('volume-containerdisk'),
    claims: list('volume-pvc'),
    imports: list('volume-import'),
    sysprep: text('volume-sysprep'),
    accessCredentials: list('access-cred'),
    user: text('user'),
    password,
    sshKeys: list('ssh-key').flatMap((keys) => keys.split(',')),
    agentManagesSsh: values['ga-manage-ssh'] === true,
    cloudInit: text('cloud-init'),
    userData: text('cloud-init-user-data'),
    networkData: text('cloud-init-network-data'),
  };
}

async function asYaml(machine: Omit<VirtualMachine, 'metadata'> & { metadata: object }): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(machine);
}
