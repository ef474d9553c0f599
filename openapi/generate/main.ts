/** `npm run generate`: reads `openapi/definitions/**.yaml`, writes `openapi/generated/`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { definitionsModule, readDefinitions } from './definitions.js';
import { generateTypes } from './types.js';

const root = path.join(import.meta.dirname, '..');
const target = path.join(root, 'generated');

const definitions = readDefinitions(path.join(root, 'definitions'));
rmSync(target, { recursive: true, force: true });
mkdirSync(path.join(target, 'types'), { recursive: true });
writeFileSync(path.join(target, 'definitions.ts'), definitionsModule(definitions));
for (const [module, source] of generateTypes(definitions)) {
  writeFileSync(path.join(target, 'types', `${module}.ts`), source);
}
