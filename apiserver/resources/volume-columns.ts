/** How claims and volumes show their access modes. */
const abbreviations: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

export function accessModes(modes: readonly string[] | undefined): string {
  return [...new Set(modes)].map((mode) => abbreviations[mode] ?? mode).join(',');
}
