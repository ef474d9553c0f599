/**
 * Runs tests: `node --import tsx test/run.mjs [FILTER…]`. A filter is a file, a folder, or part of a path; without one all
 * `*.test.ts` run, two files at a time. Closes with a line `N passed, N failed` and is non-zero unless all passed.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const root = resolve(import.meta.dirname, '..');
const folders = [
  'openapi',
  'storage',
  'apiserver',
  'controllers',
  'node-agent',
  'launcher',
  'cli',
  'deploy',
  'test',
];
/** No file takes that long; one that hangs should say so before CI ends. Milliseconds. */
const fileTimeout = 5 * 60_000;

function findTests(filters) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => join(folder, path)),
  );
  const wanted = filters.map((filter) => {
    const path = relative(root, resolve(filter));
    if (existsSync(filter)) return (file) => file === path || file.startsWith(path + sep);
    return (file) => file.includes(filter);
  });
  return files.filter((file) => wanted.length === 0 || wanted.some((matches) => matches(file))).sort();
}

const filters = process.argv.slice(2);
const files = findTests(filters);
if (files.length === 0) {
  console.error(`no test file matches ${filters.join(', ')}`);
  process.exit(2);
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const count = (outcome) => (event) => {
  if (event.details?.type === 'suite') return;
  if (event.skip !== undefined || event.todo !== undefined) counts.skipped++;
  else counts[outcome]++;
};
const events = run({ files: files.map((file) => join(root, file)), concurrency: 2, timeout: fileTimeout });
events.on('test:pass', count('passed'));
events.on('test:fail', count('failed'));
const report = events.compose(new spec());
report.pipe(process.stdout, { end: false });
await finished(report);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;
