/** Keeps the RBAC policy as the stored roles and bindings are, by watching them. */
import type { Logger } from 'pino';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
} from '../../../openapi/generated/types/rbac_v1.js';
import type { Watch } from '../../../storage/interface.js';
import { decodeEntry, type Endpoint } from '../../registry/endpoint.js';
import { RbacPolicy } from './policy.js';

const rbacGroup = 'rbac.authorization.k8s.io';
const retryMs = 1000;

/** How one kind gets into the policy. */
interface Kind<T> {
  readonly resource: string;
  set(policy: RbacPolicy, object: T): void;
  remove(policy: RbacPolicy, namespace: string, name: string): void;
}

const clusterRoles: Kind<ClusterRole> = {
  resource: 'clusterroles',
  set: (policy, role) => {
    policy.setClusterRole(role);
  },
  remove: (policy, _namespace, name) => {
    policy.deleteClusterRole(name);
  },
};

const roles: Kind<Role> = {
  resource: 'roles',
  set: (policy, role) => {
    policy.setRole(role);
  },
  remove: (policy, namespace, name) => {
    policy.deleteRole(namespace, name);
  },
};

function bindings<T extends ClusterRoleBinding | RoleBinding>(resource: string): Kind<T> {
  return {
    resource,
    set: (policy, binding) => {
      policy.setBinding(binding);
    },
    remove: (policy, namespace, name) => {
      policy.deleteBinding(namespace, name);
    },
  };
}

export type EndpointLookup = (group: string, resource: string) => Endpoint | undefined;

export class PolicyFeed {
  readonly policy = new RbacPolicy();
  readonly #waiting = new Set<string>();
  readonly #runs: Promise<void>[] = [];

  constructor(
    private readonly endpoint: EndpointLookup,
    private readonly logger: Logger,
  ) {}

  /** Follows the stored objects until `signal` aborts. A kind that this server does not serve has no objects. */
  start(signal: AbortSignal): void {
    this.#follow(clusterRoles, signal);
    this.#follow(roles, signal);
    this.#follow(bindings<ClusterRoleBinding>('clusterrolebindings'), signal);
    this.#follow(bindings<RoleBinding>('rolebindings'), signal);
  }

  /** A readiness check: until everything was read once, the policy would refuse what it should allow. */
  check(): void {
    if (this.#waiting.size > 0) throw new Error(`not read yet: ${[...this.#waiting].join(', ')}`);
  }

  /** Resolves when nothing is followed any more. */
  async stopped(): Promise<void> {
    await Promise.all(this.#runs);
  }

  #follow<T>(kind: Kind<T>, signal: AbortSignal): void {
    const endpoint = this.endpoint(rbacGroup, kind.resource);
    if (endpoint === undefined) return;
    this.#waiting.add(kind.resource);
    this.#runs.push(this.#run(kind, endpoint, signal));
  }

  async #run<T>(kind: Kind<T>, endpoint: Endpoint, signal: AbortSignal): Promise<void> {
    /** Keys in the policy, to find what went away while no watch was open. */
    const known = new Map<string, { namespace: string; name: string }>();
    do {
      const watch = endpoint.store.watch({
        from: { kind: 'initial', bookmark: true },
        bookmarks: true,
        signal,
      });
      try {
        await this.#consume(kind, endpoint, watch, known);
      } catch (error) {
        if (!signal.aborted) {
          this.logger.warn({ err: error, resource: kind.resource }, 'watch of RBAC objects broke: anew');
        }
      } finally {
        watch.close();
      }
    } while (await pause(retryMs, signal));
  }

  /** Until the watch ends or breaks. */
  async #consume<T>(
    kind: Kind<T>,
    { resource }: Endpoint,
    watch: Watch,
    known: Map<string, { namespace: string; name: string }>,
  ): Promise<void> {
    const gone = new Map(known);
    const remove = (key: string, { namespace, name }: { namespace: string; name: string }): void => {
      known.delete(key);
      kind.remove(this.policy, namespace, name);
    };
    for (;;) {
      const events = await watch.next();
      if (events === undefined) return;
      for (const event of events) {
        if (event.type === 'BOOKMARK') {
          if (!event.initialEventsEnd) continue;
          for (const [key, object] of gone) remove(key, object);
          this.#waiting.delete(kind.resource);
          continue;
        }
        const { namespace = '', name } = event.entry.attributes;
        const { key } = event.entry;
        gone.delete(key);
        if (event.type === 'DELETED') {
          remove(key, { namespace, name });
          continue;
        }
        known.set(key, { namespace, name });
        // The store holds objects of this kind only.
        kind.set(this.policy, decodeEntry(resource, resource.storageVersion, event.entry) as T);
      }
    }
  }
}

/** Resolves with false, at once, if the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
