export interface LauncherOptions {
  readonly podDir: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly qemu: string;
  readonly qemuImg: string;
  readonly allowKvm: boolean;
}

export const usage = `Usage: nativirt launcher --pod-dir DIR --name NAME --namespace NAMESPACE --uid UID [options]

Runs one virtual machine. It waits on DIR/launcher.sock for the virtual machine instance.

  --pod-dir DIR          directory of the pod; the working directory
  --name NAME            name of the virtual machine instance
  --namespace NAMESPACE  its namespace
  --uid UID              its UID; another one is refused
  --qemu PATH            QEMU (default: qemu-system-x86_64)
  --qemu-img PATH        qemu-img (default: qemu-img)
  --no-kvm               emulate even where /dev/kvm is usable
  --help                 show this help
`;

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const flags = ['pod-dir', 'name', 'namespace', 'uid', 'qemu', 'qemu-img'] as const;
type Flag = (typeof flags)[number];

/**
 * @param argv arguments after the program's name
 * @throws UsageError
 */
export function parseOptions(argv: readonly string[]): LauncherOptions | 'help' {
  const values = new Map<Flag, string>();
  let allowKvm = true;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--help') return 'help';
    if (word === '--no-kvm') {
      allowKvm = false;
      continue;
    }
    const [name, inline] = split(word);
    const flag = flags.find((known) => `--${known}` === name);
    if (!flag) throw new UsageError(`unknown argument ${word}`);
    const value = inline ?? argv[++index];
    if (value === undefined || value === '') throw new UsageError(`--${flag} needs a value`);
    values.set(flag, value);
  }
  const required = (flag: Flag) => {
    const value = values.get(flag);
    if (value === undefined) throw new UsageError(`--${flag} is required`);
    return value;
  };
  return {
    podDir: required('pod-dir'),
    name: required('name'),
    namespace: required('namespace'),
    uid: required('uid'),
    qemu: values.get('qemu') ?? 'qemu-system-x86_64',
    qemuImg: values.get('qemu-img') ?? 'qemu-img',
    allowKvm,
  };
}

function split(word: string): [name: string, value: string | undefined] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}
