/** What an import tells at its end. */
import type { Count, ImportReport } from './import.js';

const columns: readonly (keyof Count)[] = ['found', 'written', 'unchanged', 'failed', 'different', 'extra'];

export function formatReport({ counts, foreign, complete }: ImportReport): string {
  const rows = [...counts]
    .filter(([, count]) => columns.some((column) => count[column] > 0))
    .map(([{ plural, group }, count]) => [
      `${plural}.${group}`,
      ...columns.map((column) => String(count[column])),
    ]);
  const table = [['RESOURCE', ...columns.map((column) => column.toUpperCase())], ...rows];
  const widths = table[0]?.map((_, index) => Math.max(...table.map((row) => row[index]?.length ?? 0))) ?? [];
  const lines = table.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const others = [...foreign].map(
    ([kind, count]) => `${kind}: ${count} left out, as we do not serve this kind`,
  );
  return [...lines, ...others, '', complete ? takeOver : incomplete, ''].join('\n');
}

const incomplete = `Not everything is in the store as it is in the source: see above. Mend that and run the same command again;
what is there already is left alone.`;

const takeOver = `Everything is in the store, as it is in the source. To take over the groups (deploy/import/README.md has the commands):
  1. KubeVirt's operator, controllers and webhooks are stopped: since before this import, or run it again when they are.
  2. Apply our APIServices over those that the cluster made for the CRDs, and take the label
     kube-aggregator.kubernetes.io/automanaged off them. Requests come to us from then on.
  3. Compare: kubectl get of each kind shows the numbers above.
  4. Remove the CRDs without deleting objects: take their finalizer away as they go.`;
