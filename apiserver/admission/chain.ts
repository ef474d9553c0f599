/** Runs the admission plugins over a write, in the order in which they were given. */
import type { StatusCause } from '../../openapi/meta.js';
import type { AdmissionContext, AdmissionPlugin, AdmissionRequest } from './interface.js';

export interface AdmissionChain {
  /** Whether any plugin might change the object. */
  mutates(request: AdmissionRequest): boolean;
  /** Defaults of all plugins; each sees what those before it did. */
  mutate(request: AdmissionRequest, context: AdmissionContext): Promise<void>;
  /** The faults that all plugins find; empty to allow. */
  validate(request: AdmissionRequest, context: AdmissionContext): Promise<readonly StatusCause[]>;
}

export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  return {
    mutates: (request) => plugins.some((plugin) => plugin.mutate !== undefined && plugin.handles(request)),
    async mutate(request, context) {
      for (const plugin of plugins) {
        if (plugin.mutate !== undefined && plugin.handles(request)) await plugin.mutate(request, context);
      }
    },
    async validate(request, context) {
      const causes: StatusCause[] = [];
      for (const plugin of plugins) {
        if (plugin.validate === undefined || !plugin.handles(request)) continue;
        causes.push(...(await plugin.validate(request, context)));
      }
      return causes;
    },
  };
}
