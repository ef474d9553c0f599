/** What an object must pass before it is stored: admission's defaults, the rules of metadata, schema and kind, and admission's rules. */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { AdmissionChain } from '../admission/chain.js';
import type { AdmissionContext, AdmissionLookups, AdmissionRequest } from '../admission/interface.js';
import { invalid } from '../errors/api-error.js';
import type { UserInfo } from '../request.js';
import type { Endpoint } from './endpoint.js';
import {
  dropRepeatedOwners,
  finalizerWarnings,
  metadataCauses,
  metadataUpdateCauses,
} from './metadata-rules.js';
import { acceptPatched } from './patched.js';
import { bodyChanged } from './sections.js';

/** Who writes what, and how. */
export interface WriteContext {
  readonly endpoint: Endpoint;
  /** The version that the request speaks; recorded in managedFields. */
  readonly version: string;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Name of the field manager. */
  readonly manager: string;
  warn(text: string): void;
  /** For the audit log. */
  annotate?(key: string, value: string): void;
  /** Aborts when the answer is no longer wanted. */
  readonly signal?: AbortSignal | undefined;
}

export interface Admitter {
  /** Changes `object` in place. Throws an ApiError unless it may be stored. */
  create(context: WriteContext, object: KubernetesObject): Promise<void>;
  update(context: WriteContext, object: KubernetesObject, old: KubernetesObject): Promise<void>;
  delete(context: WriteContext, old: KubernetesObject): Promise<void>;
}

export interface AdmitterOptions {
  readonly admission: AdmissionChain;
  readonly lookups: AdmissionLookups;
  configuration(): KubeVirtConfiguration;
}

function admissionRequest(
  { endpoint, version, namespace, subresource, user, dryRun }: WriteContext,
  operation: AdmissionRequest['operation'],
  object: KubernetesObject | undefined,
  oldObject: KubernetesObject | undefined,
): AdmissionRequest {
  const { group, kind, plural } = endpoint.resource;
  return {
    operation,
    group,
    version,
    resource: plural,
    kind,
    subresource,
    namespace,
    name: (object ?? oldObject)?.metadata.name ?? '',
    object,
    oldObject,
    user,
    dryRun,
  };
}

function refuse(context: WriteContext, object: KubernetesObject, causes: readonly StatusCause[]): void {
  const { group, kind } = context.endpoint.resource;
  if (causes.length > 0) throw invalid(group, kind, object.metadata.name, causes);
}

/** Plugins that mutate may rely on the schema: what it requires is there, and everything has its type. */
function refuseMalformed(
  context: WriteContext,
  object: KubernetesObject,
  old: KubernetesObject | undefined,
): void {
  refuse(context, object, context.endpoint.schema.validate(object, old));
}

export function createAdmitter(options: AdmitterOptions): Admitter {
  const { admission, lookups } = options;
  const surroundings = (context: WriteContext): AdmissionContext => ({
    configuration: options.configuration(),
    lookups,
    warn: (text) => {
      context.warn(text);
    },
    annotate: (key, value) => {
      context.annotate?.(key, value);
    },
    get signal() {
      return context.signal;
    },
  });

  async function mutate(
    context: WriteContext,
    request: AdmissionRequest,
    object: KubernetesObject,
  ): Promise<void> {
    if (!admission.mutates(request)) return;
    refuseMalformed(context, object, request.oldObject);
    await admission.mutate(request, surroundings(context), (patched) => {
      acceptPatched(context, object, patched);
      refuseMalformed(context, object, request.oldObject);
    });
    context.endpoint.schema.applyDefaults(object);
  }

  return {
    async create(context, object) {
      const { resource, schema } = context.endpoint;
      const request = admissionRequest(context, 'CREATE', object, undefined);
      // Admission adds finalizers of its own.
      const advice = [
        ...dropRepeatedOwners(object),
        ...finalizerWarnings(object, undefined, resource.strategy),
      ];
      await mutate(context, request, object);
      refuse(context, object, [...metadataCauses(object, resource.strategy), ...schema.validate(object)]);
      refuse(context, object, resource.strategy.validate?.(object, undefined) ?? []);
      refuse(context, object, await admission.validate(request, surroundings(context)));
      for (const text of advice) context.warn(text);
    },

    async update(context, object, old) {
      const { resource, schema } = context.endpoint;
      // A finalizer must come off an object that is being deleted even if today's rules would refuse the rest of it.
      if (old.metadata.deletionTimestamp !== undefined && !bodyChanged(object, old)) {
        refuse(context, object, metadataUpdateCauses(object, old));
        return;
      }
      const request = admissionRequest(context, 'UPDATE', object, old);
      const advice = [...dropRepeatedOwners(object), ...finalizerWarnings(object, old, resource.strategy)];
      await mutate(context, request, object);
      refuse(context, object, [
        ...metadataUpdateCauses(object, old),
        ...(bodyChanged(object, old) ? schema.validate(object, old) : []),
      ]);
      refuse(context, object, resource.strategy.validate?.(object, old) ?? []);
      refuse(context, object, await admission.validate(request, surroundings(context)));
      for (const text of advice) context.warn(text);
    },

    async delete(context, old) {
      const request = admissionRequest(context, 'DELETE', undefined, old);
      await admission.mutate(request, surroundings(context), () => {
        throw new Error('a delete has no object that could be patched');
      });
      refuse(context, old, await admission.validate(request, surroundings(context)));
    },
  };
}
