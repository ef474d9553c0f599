/** Runs the admission plugins over a write, in the order in which they were given. */
import type { StatusCause } from '../../openapi/meta.js';
import type {
  AcceptPatched,
  AdmissionContext,
  AdmissionPlugin,
  AdmissionRequest,
  LateMutation,
} from './interface.js';

export interface AdmissionChain {
  /** Whether any plugin might change the object. */
  mutates(request: AdmissionRequest): boolean;
  /** Defaults of all plugins, each of which sees what those before it did; then late mutation, and what follows from it. */
  mutate(request: AdmissionRequest, context: AdmissionContext, accept: AcceptPatched): Promise<void>;
  /** The faults that all plugins find; empty to allow. Late refusals are thrown. */
  validate(request: AdmissionRequest, context: AdmissionContext): Promise<readonly StatusCause[]>;
}

export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  async function setDefaults(request: AdmissionRequest, context: AdmissionContext): Promise<void> {
    if (request.object === undefined) return;
    for (const plugin of plugins) {
      if (plugin.mutate !== undefined && plugin.handles(request)) await plugin.mutate(request, context);
    }
  }

  return {
    mutates: (request) =>
      plugins.some(
        (plugin) =>
          (plugin.mutate !== undefined || plugin.mutateLate !== undefined) && plugin.handles(request),
      ),
    async mutate(request, context, accept) {
      await setDefaults(request, context);
      const mutations: LateMutation[] = [];
      for (const plugin of plugins) {
        if (plugin.mutateLate === undefined || !plugin.handles(request)) continue;
        mutations.push(await plugin.mutateLate(request, context, accept));
      }
      if (!mutations.some(({ changed }) => changed)) return;
      await setDefaults(request, context);
      for (const mutation of mutations) await mutation.again();
    },
    async validate(request, context) {
      const causes: StatusCause[] = [];
      for (const plugin of plugins) {
        if (plugin.validate === undefined || !plugin.handles(request)) continue;
        causes.push(...(await plugin.validate(request, context)));
      }
      if (causes.length > 0) return causes;
      for (const plugin of plugins) {
        if (plugin.validateLate !== undefined && plugin.handles(request))
          await plugin.validateLate(request, context);
      }
      return [];
    },
  };
}
