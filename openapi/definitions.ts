/** The definitions of `openapi/definitions/**.yaml`, as `npm run generate` packed them. */
import { definitionTexts } from './generated/definitions.js';
import type { Definitions, Schema } from './schema.js';

let loaded: Definitions | undefined;

/** Every named schema. Parsed at the first call and shared; do not change it. */
export function loadDefinitions(): Definitions {
  loaded ??= Object.fromEntries(
    Object.entries(definitionTexts).map(([name, text]) => [name, JSON.parse(text) as Schema]),
  );
  return loaded;
}

/** The schema of that full name (`io.kubevirt.v1.Disk`). Throws if there is none. */
export function definition(definitions: Definitions, name: string): Schema {
  const schema = definitions[name];
  if (schema === undefined) throw new Error(`there is no definition named ${name}`);
  return schema;
}
