/** What the server finds before admission: faults against the schema of the object's kind. */
import { compileStructural } from '../../openapi/structural.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { StatusCause } from '../../openapi/meta.js';
import { compileValidator } from '../../openapi/validate.js';

/** `definition` is a full name, `io.kubevirt.v1.VirtualMachine`. As in the server, what the schema does not know is dropped first. */
export function schemaChecker(definition: string): (object: unknown) => readonly StatusCause[] {
  const definitions = loadDefinitions();
  const structural = compileStructural(definitions, definition);
  const validate = compileValidator(definitions, definition);
  return (object) => {
    const copy = structuredClone(object);
    structural.prune(copy);
    structural.applyDefaults(copy);
    return validate(copy);
  };
}
