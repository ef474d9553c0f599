/** Compiles what the registry needs of a kind's definition. */
import type { Definitions } from '../../openapi/schema.js';
import { strategicMergePatch } from '../../openapi/strategic-merge-patch.js';
import { compileStructural, isNative } from '../../openapi/structural.js';
import { compileValidator } from '../../openapi/validate.js';
import type { KindSchema } from './endpoint.js';
import { scaleCauses } from './metadata-rules.js';
import type { Resource } from './resource.js';

/** All versions of a kind share the schema of its first one. */
export function compileSchema(definitions: Definitions, resource: Resource): KindSchema {
  const definition = resource.versions[0]?.definition ?? '';
  const validate = compileValidator(definitions, definition);
  const structural = compileStructural(definitions, definition);
  return {
    prune: (object) => structural.prune(object),
    applyDefaults: (object) => {
      structural.applyDefaults(object);
    },
    validate: (object, old) => [...validate(object, old), ...scaleCauses(object, resource.scale)],
    ...(isNative(definition)
      ? { strategicMergePatch: (current, patch) => strategicMergePatch(current, patch, structural.root) }
      : {}),
  };
}
