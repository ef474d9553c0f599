/** Bodies of actions: KubeVirt's `*Options` kinds. */
import type { Definitions } from '../../openapi/schema.js';
import { compileValidator } from '../../openapi/validate.js';
import { badRequest } from '../errors/api-error.js';
import { readTypedBody } from '../http/typed-body.js';
import type { RequestContext } from '../request.js';

export type OptionsReader<T> = (context: RequestContext) => T;

/**
 * @param kind a definition of `io.kubevirt.v1`; T must be its generated type
 * @param defaults what T requires and clients may leave out
 * @returns reads the options; no body means no options. Throws 4xx ApiErrors.
 */
export function optionsReader<T extends object>(
  definitions: Definitions,
  kind: string,
  defaults?: Partial<T>,
): OptionsReader<T> {
  let validator: ReturnType<typeof compileValidator> | undefined;
  return (context) => {
    const validate = (validator ??= compileValidator(definitions, `io.kubevirt.v1.${kind}`));
    const options = readTypedBody<T>(context, {
      kind,
      apiVersion: 'kubevirt.io/v1',
      validate: (object) => validate({ ...defaults, ...object }),
      lenient: true,
    });
    return { ...defaults, ...options };
  };
}

/** Whether the request only wants to know what would happen: said in the options or in the query. */
export function isDryRun(context: RequestContext, options: { readonly dryRun?: readonly string[] }): boolean {
  const values = [...(options.dryRun ?? []), ...context.query.getAll('dryRun')];
  const wrong = values.find((value) => value !== 'All');
  if (wrong !== undefined) {
    throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(wrong)}: supported values: "All"`);
  }
  return values.length > 0;
}
