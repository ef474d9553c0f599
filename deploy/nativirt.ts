/** The `nativirt` executable: one subcommand per component, each in a bundle of its own so that none loads another's code. */
import { nativirtVersion } from './version.js';

const commands: Readonly<Record<string, string>> = {
  standalone: 'API server, controllers and node agent in one process, for one machine',
  apiserver: 'the API server of a cluster, behind its kube-apiserver',
  controllers: 'the controllers, as clients of an API server',
  'node-agent': 'what one node does for its virtual machines',
  import: "brings the objects of KubeVirt's custom resources into our store",
  launcher: 'runs one virtual machine; started by the node agent',
};

function usage(): string {
  const lines = Object.entries(commands).map(([name, text]) => `  ${name.padEnd(12)} ${text}`);
  return `Usage: nativirt COMMAND [FLAGS]\n\n${lines.join('\n')}\n\n\`nativirt COMMAND --help\` lists its flags; \`nativirt --version\` prints the version.\n`;
}

export async function main(argv: readonly string[]): Promise<number> {
  const [command, ...rest] = argv;
  if (command === undefined || command === '--help' || command === '-h' || command === 'help') {
    process.stdout.write(usage());
    return command === undefined ? 2 : 0;
  }
  if (command === '--version' || command === 'version') {
    process.stdout.write(`nativirt ${nativirtVersion}\n`);
    return 0;
  }
  if (!Object.hasOwn(commands, command)) {
    process.stderr.write(`nativirt: there is no command ${JSON.stringify(command)}\n\n${usage()}`);
    return 2;
  }
  const bundle = new URL(`./${command}.js`, import.meta.url);
  const { run } = (await import(bundle.href)) as { run: (argv: readonly string[]) => Promise<number> };
  return run(rest);
}
