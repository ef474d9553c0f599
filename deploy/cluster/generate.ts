/** `node --import tsx deploy/cluster/generate.ts` writes the chart's generated templates, and the file that `kubectl apply -f` takes. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generatedTemplates } from './generated-templates.js';

export const chartDirectory = join(import.meta.dirname, 'chart');
export const generatedDirectory = join(chartDirectory, 'templates/generated');
export const manifestFile = join(import.meta.dirname, 'nativirt.yaml');
export const defaultNamespace = 'kubevirt';

const helm = join(import.meta.dirname, '../../build/tools/helm');
const head = `# Made from chart/ by \`npm run generate:cluster\`; do not edit. For other settings: helm install nativirt deploy/cluster/chart.
apiVersion: v1
kind: Namespace
metadata:
  name: ${defaultNamespace}
  labels:
    app.kubernetes.io/name: nativirt
    # The node agent enters the network namespaces of launcher pods.
    pod-security.kubernetes.io/enforce: privileged
`;

/** What `helm template` makes of the chart with these settings. */
export async function renderChart(settings: readonly string[] = []): Promise<string> {
  const sets = settings.flatMap((setting) => ['--set', setting]);
  const { stdout } = await promisify(execFile)(
    helm,
    ['template', 'nativirt', chartDirectory, '--namespace', defaultNamespace, ...sets],
    { maxBuffer: 1 << 24 },
  );
  return stdout;
}

/** The chart as its defaults make it, with its namespace. */
export async function plainManifests(): Promise<string> {
  const rendered = await renderChart();
  return head + rendered.replace(/^# Source: .*\n/gm, '');
}

async function main(): Promise<void> {
  await mkdir(generatedDirectory, { recursive: true });
  for (const [name, content] of Object.entries(generatedTemplates()))
    await writeFile(join(generatedDirectory, name), content);
  await writeFile(manifestFile, await plainManifests());
}

if (process.argv[1] === import.meta.filename) await main();
