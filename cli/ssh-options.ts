/** The flags and the local program that `ssh` and `scp` share. */
import { spawn } from 'node:child_process';
import type { CommandContext, OptionSpecs, OptionValues } from './command.js';
import { CommandError, ProgramFailed, UsageError } from './errors.js';
import type { TargetReference } from './machine.js';

export const sshOptions: OptionSpecs = {
  port: { type: 'string', short: 'p' },
  username: { type: 'string', short: 'l' },
  'identity-file': { type: 'string', short: 'i' },
  'known-hosts': { type: 'string' },
  'local-ssh-opts': { type: 'string', short: 't', multiple: true },
};

export const sshOptionHelp: Readonly<Record<string, string>> = {
  port: 'port of the guest (default 22)',
  username: 'user of the guest',
  'identity-file': 'private key to log in with',
  'known-hosts': 'file of host keys that are known',
  'local-ssh-opts': 'a further option of the local program; may be repeated',
};

export interface Remote {
  readonly type: 'vm' | 'vmi';
  readonly name: string;
  readonly namespace: string;
  readonly user: string | undefined;
}

export function remoteOf(
  { machine, namespace, user }: TargetReference,
  context: CommandContext,
  values: OptionValues,
): Remote {
  const username = values['username'];
  return {
    // An instance has the name of its machine, and is what a machine's ports lead to.
    type: machine.type === 'vm' ? 'vm' : 'vmi',
    name: machine.name,
    namespace: namespace ?? context.namespace,
    user: user ?? (typeof username === 'string' ? username : undefined),
  };
}

/** What ssh calls the guest, and keeps its host key under. */
export function destination({ type, name, namespace, user }: Remote): string {
  return `${user === undefined ? '' : `${user}@`}${type}.${name}.${namespace}`;
}

/** For a command that ssh hands to a shell, after it has replaced its own percent signs. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}

function proxyCommand({ type, name, namespace }: Remote, values: OptionValues): string {
  const port = typeof values['port'] === 'string' ? values['port'] : '22';
  if (!/^\d+$/.test(port)) throw new UsageError(`--port ${JSON.stringify(port)} is no number`);
  const [node = '', script = ''] = process.argv;
  const flags = ['kubeconfig', 'context'].flatMap((flag) => {
    const value = values[flag];
    return typeof value === 'string' ? [`--${flag}`, value] : [];
  });
  const target = `${type}/${name}/${namespace}`;
  return [node, script, 'port-forward', '--stdio', ...flags, target, port].map(quoted).join(' ');
}

/** Runs the local program to its end; its exit code becomes ours. */
export async function runLocal(
  program: 'ssh' | 'scp',
  remote: Remote,
  values: OptionValues,
  args: readonly string[],
): Promise<void> {
  const { 'identity-file': identity, 'known-hosts': knownHosts, 'local-ssh-opts': more } = values;
  const argv = [
    '-o',
    `ProxyCommand=${proxyCommand(remote, values)}`,
    ...(typeof knownHosts === 'string' ? ['-o', `UserKnownHostsFile=${knownHosts}`] : []),
    ...(Array.isArray(more) ? more.flatMap((option) => String(option).split(/\s+(?=\S)/)) : []),
    ...(typeof identity === 'string' ? ['-i', identity] : []),
    ...args,
  ];
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(program, argv, { stdio: 'inherit' });
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new CommandError(`${program} is not installed here`) : error);
    });
    child.once('exit', (status, signal) => {
      resolve(signal === null ? (status ?? 1) : 1);
    });
  });
  if (code !== 0) throw new ProgramFailed(code);
}
