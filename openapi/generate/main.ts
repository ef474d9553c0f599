/** `npm run generate`: reads `openapi/definitions/**.yaml`, writes `openapi/generated/`. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Definitions } from '../schema.js';
import { generateTypes } from './types.js';

const root = path.join(import.meta.dirname, '..');
const target = path.join(root, 'generated');

function readDefinitions(directory: string): Definitions {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.yaml'),
  );
  const parsed = files
    .sort()
    .map((file) => parse(readFileSync(path.join(directory, file), 'utf8')) as Definitions);
  return Object.assign({}, ...parsed) as Definitions;
}

const definitions = readDefinitions(path.join(root, 'definitions'));
mkdirSync(path.join(target, 'types'), { recursive: true });
writeFileSync(path.join(target, 'definitions.json'), `${JSON.stringify(definitions)}\n`);
for (const [module, source] of generateTypes(definitions)) {
  writeFileSync(path.join(target, 'types', `${module}.ts`), source);
}
