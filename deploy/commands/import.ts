/** `nativirt import`: brings the objects of KubeVirt's custom resources into our store. */
import { kubevirtResources } from '../../apiserver/resources/index.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadKubeconfig } from '../../controllers/runtime/kubeconfig.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { Backend } from '../../storage/interface.js';
import { openStore } from '../apiserver/store.js';
import { storeFlags, storeOptions, storeUsage } from '../apiserver/store-options.js';
import { clusterSource } from '../import/cluster-source.js';
import { dumpSource } from '../import/dump.js';
import { runImport, type ImportReport } from '../import/import.js';
import { Journal } from '../import/journal.js';
import { formatReport } from '../import/report.js';
import type { Source } from '../import/source.js';
import { FlagError, logLevelFlag, parseFlags } from './flags.js';
import { createLogger, runUntilSignalled } from './process.js';

const usage = `Usage: nativirt import (--from-kubeconfig FILE | --from-dump PATH) (--etcd-servers URLS | --data-dir DIR) [FLAGS]

Brings the objects of KubeVirt's custom resources into the store of \`nativirt apiserver\`, with UID, timestamps, generation,
status, owners, managers of fields and finalizers. Can be stopped and run again. Reads everything again at the end and
compares; ends with status 1 if something is missing or different.

  --from-kubeconfig FILE      the cluster that serves them
  --from-dump PATH            a file or a folder of YAML and JSON, as kubectl get -o yaml writes them
  --state-file FILE           what was written so far (default: nativirt-import.state)
${storeUsage}  --log-level LEVEL           trace, debug, info, warn, error (default: warn)
  --help                      this text
`;

const text = { type: 'string' } as const;
const flagTypes = {
  'from-kubeconfig': text,
  'from-dump': text,
  'state-file': text,
  ...storeFlags,
  'log-level': text,
  help: { type: 'boolean', short: 'h' },
} as const;

export const run = async (argv: readonly string[]): Promise<number> => {
  let report: ImportReport | undefined;
  const status = await runUntilSignalled('import', async (signal) => {
    const flags = parseFlags(argv, flagTypes);
    if (flags.help === true) {
      process.stdout.write(usage);
      return;
    }
    const store = storeOptions(flags);
    const source = await openSource(flags['from-kubeconfig'], flags['from-dump']);
    const target = await openStore(store, createLogger(logLevelFlag(flags['log-level'] ?? 'warn')));
    try {
      report = await importInto(
        target.backend,
        source,
        flags['state-file'] ?? 'nativirt-import.state',
        signal,
      );
    } finally {
      source.close();
      await target.close();
    }
    process.stdout.write(formatReport(report));
  });
  return report?.complete === false ? 1 : status;
};

async function importInto(
  backend: Backend,
  source: Source,
  stateFile: string,
  signal: AbortSignal,
): Promise<ImportReport> {
  const journal = await Journal.open(stateFile);
  try {
    return await runImport({
      source,
      backend,
      journal,
      definitions: loadDefinitions(),
      resources: kubevirtResources,
      signal,
      remark: (line) => process.stderr.write(`${line}\n`),
    });
  } finally {
    await journal.close();
  }
}

async function openSource(
  kubeconfig: string | undefined,
  dump: string | undefined,
): Promise<Source & { close(): void }> {
  if ((kubeconfig === undefined) === (dump === undefined))
    throw new FlagError('one of --from-kubeconfig and --from-dump must be given');
  if (dump !== undefined) return { ...dumpSource(dump, kubevirtResources), close: () => undefined };
  const client = createHttpClient({
    ...(await loadKubeconfig(kubeconfig ?? '')),
    userAgent: 'nativirt-import',
  });
  return { ...clusterSource(client, kubevirtResources), close: () => client.close() };
}
