import { hostname } from 'node:os';

/** The machine's own name for one node; `name-1` … `name-N` for several. Node names are lower-case DNS names. */
export function nodeNames(count: number): string[] {
  const cleaned = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '');
  const name = cleaned === '' ? 'node' : cleaned.slice(0, 60);
  return count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}
