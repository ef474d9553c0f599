/** What to type after the demo. */
import { dirname, relative, resolve } from 'node:path';
import { kubectlPath } from './kubectl.js';
import { machine, namespace } from './run-demo.js';

const root = resolve(import.meta.dirname, '../..');

export interface Outcome {
  readonly keep: boolean;
  readonly dataDirectory: string;
  /** Of the control plane that was kept. */
  readonly pid: number | undefined;
}

function commands(dataDirectory: string): string[] {
  const path = [resolve(root, 'bin'), dirname(kubectlPath)].join(':');
  return [
    `export KUBECONFIG=${dataDirectory}/admin.kubeconfig`,
    `export PATH=${path}:$PATH`,
    `kubectl get -n ${namespace} vms,vmis`,
    `kubectl virt console -n ${namespace} ${machine}    # log in as demo, password demo; Ctrl+] leaves`,
  ];
}

export function nextSteps({ keep, dataDirectory, pid }: Outcome): string {
  const indented = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);
  if (keep) {
    return [
      '',
      'It is still running. Type next:',
      '',
      ...indented(commands(dataDirectory)),
      '',
      'And to end it all:',
      '',
      ...indented([`kubectl delete -n ${namespace} vm ${machine}`, `kill ${pid ?? ''}`]),
    ].join('\n');
  }
  const examples = relative(process.cwd(), resolve(root, 'deploy/examples'));
  const kept = '$HOME/.local/share/nativirt';
  return [
    '',
    'Nothing is left running. To keep it, `npm run demo -- --keep`; or by hand, in one terminal',
    '',
    ...indented(['npm start']),
    '',
    'and in another',
    '',
    ...indented([
      ...commands(kept).slice(0, 2),
      `kubectl create -f ${examples}/namespace.yaml`,
      `kubectl create -n ${namespace} -f ${examples}/vm-demo.yaml`,
      ...commands(kept).slice(2),
    ]),
  ].join('\n');
}
