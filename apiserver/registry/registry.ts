/**
 * The generic registry: serves every resource from its description, for requests and for the other parts of the server.
 */
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import type { Definitions } from '../../openapi/schema.js';
import type { ObjectStore } from '../../storage/interface.js';
import { createAdmissionChain } from '../admission/chain.js';
import type { AdmissionLookups, AdmissionPlugin } from '../admission/interface.js';
import type { ObjectFields } from '../apply/interface.js';
import type { Serialized } from '../codec/stored-bytes.js';
import { ApiError } from '../errors/api-error.js';
import { toApiError } from '../errors/status.js';
import { dispatch } from '../handlers/dispatch.js';
import type { Serving } from '../handlers/request.js';
import { SharedEvents } from '../handlers/shared-events.js';
import type { Handler, UserInfo } from '../request.js';
import { createAdmitter, type WriteContext } from './admit.js';
import { createDelete, type DeleteOptions, type DeleteResult } from './delete.js';
import { decodeEntry, type Endpoint } from './endpoint.js';
import { objectKey } from './keys.js';
import { createLookups } from './lookups.js';
import type { Draft } from './metadata.js';
import { storedNamespaces, type NamespaceLookup } from './namespaces.js';
import type { Resource } from './resource.js';
import { compileSchema } from './schema.js';
import { createWritePath } from './write-path.js';

export interface RegistryOptions {
  readonly resources: readonly Resource[];
  readonly definitions: Definitions;
  storeFor(resource: Resource): ObjectStore;
  /** Ownership of fields for a kind. */
  fieldsFor(resource: Resource): ObjectFields;
  readonly admission: readonly AdmissionPlugin[];
  /** The KubeVirt object's configuration over the defaults, as it is now. */
  configuration(): KubeVirtConfiguration;
  /** Where namespaces are looked up; this server's own `namespaces` if absent. */
  readonly namespaces?: NamespaceLookup;
  /** Where admission reads kinds that this server does not hold; nowhere if absent. */
  readonly elsewhere?: AdmissionLookups;
  readonly clock: {
    /** Milliseconds since 1970. */
    now(): number;
    /** Calls back once after `milliseconds`; returns how to cancel it. */
    timer(milliseconds: number, callback: () => void): () => void;
  };
  readonly uuid: () => string;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Names an object for the programmatic API. */
export interface Target {
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** On whose behalf the server writes. */
export interface Actor {
  readonly user: UserInfo;
  readonly subresource?: string;
  /** Name of the field manager; the user's name if absent. */
  readonly manager?: string;
  readonly dryRun?: boolean;
  warn?(text: string): void;
}

/**
 * Objects come and go in the storage version of their kind. Every method throws ApiError, or StorageError where the store itself
 * fails.
 */
export interface Registry {
  /** All requests on resources and on the subresources that kinds declare. Never rejects with anything but an ApiError. */
  readonly handle: Handler;
  /** Reads for admission, and for anyone who does not change what it gets: results may be shared. */
  readonly lookups: AdmissionLookups;
  readonly resources: readonly Resource[];
  /** Undefined if no such resource is served. */
  endpoint(group: string, resource: string): Endpoint | undefined;
  /** A value of the caller's own. */
  get<T extends KubernetesObject>(target: Target): Promise<T | undefined>;
  list<T extends KubernetesObject>(
    group: string,
    resource: string,
    namespace?: string,
  ): Promise<readonly T[]>;
  create<T extends KubernetesObject>(target: Omit<Target, 'name'>, object: New<T>, actor: Actor): Promise<T>;
  /**
   * Changes an object through the whole chain. `mutate` gets the newest state, may change it in place or return another, and runs
   * again if somebody else wrote in between.
   */
  guaranteedUpdate<T extends KubernetesObject>(
    target: Target,
    // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- a mutation in place returns nothing
    mutate: (current: T) => T | void | Promise<T | void>,
    actor: Actor,
  ): Promise<T>;
  delete(target: Target, options: DeleteOptions, actor: Actor): Promise<DeleteResult>;
}

const endpointKey = (group: string, resource: string): string => `${resource}.${group}`;

function createEndpoints(options: RegistryOptions): ReadonlyMap<string, Endpoint> {
  const endpoints = options.resources.map((resource): [string, Endpoint] => {
    return [
      endpointKey(resource.group, resource.plural),
      {
        resource,
        schema: compileSchema(options.definitions, resource),
        fields: options.fieldsFor(resource),
        store: options.storeFor(resource),
      },
    ];
  });
  return new Map(endpoints);
}

function namespaceLookup(
  { namespaces }: RegistryOptions,
  endpoints: ReadonlyMap<string, Endpoint>,
): NamespaceLookup {
  const own = endpoints.get(endpointKey('', 'namespaces'));
  if (namespaces !== undefined) return namespaces;
  if (own === undefined)
    throw new Error('the registry serves no namespaces and was not told where to look them up');
  return storedNamespaces(own);
}

export function createRegistry(options: RegistryOptions): Registry {
  const { clock, randomBytes, uuid } = options;
  const endpoints = createEndpoints(options);
  const endpoint = (group: string, resource: string): Endpoint | undefined =>
    endpoints.get(endpointKey(group, resource));
  const lookups = createLookups(endpoint, options.elsewhere);
  const admitter = createAdmitter({
    admission: createAdmissionChain(options.admission),
    lookups,
    configuration: () => options.configuration(),
  });
  const now = (): number => clock.now();
  const writes = createWritePath({
    admitter,
    namespaces: namespaceLookup(options, endpoints),
    now,
    uuid,
    random: randomBytes,
  });
  const remove = createDelete({ admitter, now });
  const serving: Serving = {
    writes,
    remove,
    sharedEvents: new SharedEvents(),
    now,
    timer: (milliseconds, callback) => clock.timer(milliseconds, callback),
    random: () => (randomBytes(1)[0] ?? 0) / 256,
  };

  function served(group: string, resource: string): Endpoint {
    const found = endpoint(group, resource);
    if (found === undefined) throw new ApiError('NotFound', `the server serves no ${resource} of ${group}`);
    return found;
  }

  function contextOf(target: Omit<Target, 'name'>, actor: Actor): WriteContext {
    const found = served(target.group, target.resource);
    return {
      endpoint: found,
      version: found.resource.storageVersion,
      namespace: target.namespace,
      subresource: actor.subresource,
      user: actor.user,
      dryRun: actor.dryRun ?? false,
      manager: actor.manager ?? actor.user.name,
      warn: (text) => actor.warn?.(text),
    };
  }

  const decoded = ({ resource }: Endpoint, entry: Serialized): KubernetesObject =>
    decodeEntry(resource, resource.storageVersion, entry);

  // Callers of what follows name the type of the kind that they ask for; nothing here depends on it.
  return {
    async handle(context) {
      const { group, resource, name } = context.info;
      try {
        return await dispatch(serving, endpoint(group, resource), context);
      } catch (error) {
        throw toApiError(error, { group, resource, name });
      }
    },
    lookups,
    resources: options.resources,
    endpoint,
    async get<T extends KubernetesObject>(target: Target) {
      const found = served(target.group, target.resource);
      const entry = await found.store.get(objectKey(found.resource, target), { kind: 'newest' });
      return entry === undefined ? undefined : (decoded(found, entry) as T);
    },
    async list<T extends KubernetesObject>(group: string, resource: string, namespace?: string) {
      const found = served(group, resource);
      const { entries } = await found.store.list({
        at: { kind: 'newest' },
        ...(namespace === undefined ? {} : { namespace }),
      });
      return entries.map((entry) => decoded(found, entry) as T);
    },
    async create<T extends KubernetesObject>(target: Omit<Target, 'name'>, object: New<T>, actor: Actor) {
      const context = contextOf(target, actor);
      const draft = JSON.parse(JSON.stringify(object)) as Draft;
      return decoded(context.endpoint, await writes.create(context, draft)) as T;
    },
    async guaranteedUpdate<T extends KubernetesObject>(
      target: Target,
      mutate: (current: T) => T | undefined | Promise<T | undefined>,
      actor: Actor,
    ) {
      const context = contextOf(target, actor);
      const written = await writes.update(context, target.name, async (current) => {
        return (await mutate(current as T)) ?? current;
      });
      return decoded(context.endpoint, written) as T;
    },
    delete: (target, deleteOptions, actor) => remove(contextOf(target, actor), target.name, deleteOptions),
  };
}
