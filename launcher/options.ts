export interface LauncherOptions {
  readonly podDir: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly qemu: string;
  readonly qemuImg: string;
  readonly allowKvm: boolean;
  /** Emulation is not good enough. */
  readonly requireKvm: boolean;
  /** A file that gets the launcher's last word. */
  readonly terminationMessage: string | undefined;
}

/** What the program is to do. */
export type Command =
  | { readonly kind: 'help' }
  | ({ readonly kind: 'run' } & LauncherOptions)
  | { readonly kind: 'write-image-holder'; readonly path: string }
  | {
      readonly kind: 'probe';
      readonly podDir: string;
      readonly timeoutSeconds: number;
      /** In the guest; empty: only whether its agent answers. */
      readonly command: readonly string[];
    };

export const usage = `Usage: nativirt launcher --pod-dir DIR --name NAME --namespace NAMESPACE --uid UID [options]

       nativirt launcher --pod-dir DIR --probe [--probe-timeout SECONDS] [-- COMMAND…]
       nativirt launcher --write-image-holder FILE

Runs one virtual machine. It waits on DIR/launcher.sock for the virtual machine instance.

  --pod-dir DIR          directory of the pod; the working directory
  --name NAME            name of the virtual machine instance
  --namespace NAMESPACE  its namespace
  --uid UID              its UID; another one is refused
  --qemu PATH            QEMU (default: qemu-system-x86_64)
  --qemu-img PATH        qemu-img (default: qemu-img)
  --no-kvm               emulate even where /dev/kvm is usable
  --require-kvm          fail rather than emulate where it is not
  --termination-message FILE
                         gets how the machine ended, as JSON
  --probe                ask the launcher of DIR whether its guest agent answers, and runs COMMAND with status 0
  --probe-timeout SECONDS
                         for the command (default: 1)
  --write-image-holder FILE
                         write the program that keeps containers of disk images alive
  --help                 show this help
`;

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const flags = [
  'pod-dir',
  'name',
  'namespace',
  'uid',
  'qemu',
  'qemu-img',
  'termination-message',
  'probe-timeout',
  'write-image-holder',
] as const;
const switches = ['no-kvm', 'require-kvm', 'probe', 'help'] as const;
type Flag = (typeof flags)[number];
type Switch = (typeof switches)[number];

interface Words {
  readonly values: ReadonlyMap<Flag, string>;
  readonly given: ReadonlySet<Switch>;
  /** What stands after `--`. */
  readonly rest: readonly string[];
}

function readWords(argv: readonly string[]): Words {
  const values = new Map<Flag, string>();
  const given = new Set<Switch>();
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (word === '--') return { values, given, rest: argv.slice(index + 1) };
    const known = switches.find((each) => `--${each}` === word);
    if (known) {
      given.add(known);
      continue;
    }
    const [name, inline] = split(word);
    const flag = flags.find((each) => `--${each}` === name);
    if (!flag) throw new UsageError(`unknown argument ${word}`);
    const value = inline ?? argv[++index];
    if (value === undefined || value === '') throw new UsageError(`--${flag} needs a value`);
    values.set(flag, value);
  }
  return { values, given, rest: [] };
}

/**
 * @param argv arguments after the program's name
 * @throws UsageError
 */
export function parseOptions(argv: readonly string[]): Command {
  const { values, given, rest } = readWords(argv);
  if (given.has('help')) return { kind: 'help' };
  const required = (flag: Flag) => {
    const value = values.get(flag);
    if (value === undefined) throw new UsageError(`--${flag} is required`);
    return value;
  };
  const path = values.get('write-image-holder');
  if (path !== undefined) return { kind: 'write-image-holder', path };
  if (given.has('probe')) {
    const timeoutSeconds = Number(values.get('probe-timeout') ?? '1');
    if (!(timeoutSeconds > 0)) throw new UsageError('--probe-timeout must be a number of seconds');
    return { kind: 'probe', podDir: required('pod-dir'), timeoutSeconds, command: rest };
  }
  if (rest.length > 0) throw new UsageError(`unknown argument ${rest.join(' ')}`);
  return {
    kind: 'run',
    podDir: required('pod-dir'),
    name: required('name'),
    namespace: required('namespace'),
    uid: required('uid'),
    qemu: values.get('qemu') ?? 'qemu-system-x86_64',
    qemuImg: values.get('qemu-img') ?? 'qemu-img',
    allowKvm: !given.has('no-kvm'),
    requireKvm: given.has('require-kvm'),
    terminationMessage: values.get('termination-message'),
  };
}

function split(word: string): [name: string, value: string | undefined] {
  const equals = word.indexOf('=');
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}
