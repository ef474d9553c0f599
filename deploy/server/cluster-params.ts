/** Objects of the cluster by which policies are configured: each kind that a policy names is followed while one does. */
import type { Logger } from 'pino';
import type { ParamSource } from '../../apiserver/policy/policy-view.js';
import type { ParamKind, ParamRef } from '../../apiserver/policy/types.js';
import type { Kind } from '../../controllers/runtime/client.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { namespaceIndex, SharedInformer } from '../../controllers/runtime/informer.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { compileLabelSelector } from '../../openapi/selectors.js';

interface Followed {
  readonly informer: SharedInformer<KubernetesObject>;
  readonly stop: AbortController;
  readonly running: Promise<void>;
}

/** A write waits so long for the objects of a kind that was not followed before. Milliseconds. */
const patience = 5000;
const keyOf = ({ apiVersion, kind }: ParamKind): string => `${apiVersion}/${kind}`;

export class ClusterParams implements ParamSource {
  readonly #followed = new Map<string, Promise<Followed>>();

  constructor(
    private readonly client: HttpClient,
    private readonly logger: Logger,
  ) {}

  async find(
    kind: ParamKind,
    reference: ParamRef,
    namespace: string | undefined,
  ): Promise<readonly object[]> {
    const { informer } = await this.#follow(kind);
    await known(informer);
    const { name = '', selector } = reference;
    const within = placeOf(informer.kind, reference, namespace);
    if (name !== '') {
      const found = informer.get({ namespace: within, name });
      return found === undefined ? [] : [withKind(found, kind)];
    }
    const matcher = compileLabelSelector(selector ?? {});
    const all = within === undefined ? informer.list() : informer.byIndex(namespaceIndex, within);
    return all.filter(({ metadata }) => matcher.matches(metadata.labels)).map((each) => withKind(each, kind));
  }

  /** Others are not followed any more. */
  keep(kinds: readonly ParamKind[]): void {
    const wanted = new Set(kinds.map(keyOf));
    for (const [key, followed] of this.#followed) {
      if (wanted.has(key)) continue;
      this.#followed.delete(key);
      void followed.then(({ stop }) => {
        stop.abort();
      });
    }
  }

  async close(): Promise<void> {
    const all = [...this.#followed.values()];
    this.keep([]);
    for (const outcome of await Promise.allSettled(all))
      if (outcome.status === 'fulfilled') await outcome.value.running;
  }

  #follow(kind: ParamKind): Promise<Followed> {
    const key = keyOf(kind);
    const known = this.#followed.get(key);
    if (known !== undefined) return known;
    const started = this.#start(kind);
    this.#followed.set(key, started);
    // A kind that is not there may come.
    started.catch(() => this.#followed.delete(key));
    return started;
  }

  async #start(kind: ParamKind): Promise<Followed> {
    const informer = new SharedInformer({
      client: this.client,
      kind: await this.#resolve(kind),
      logger: this.logger,
    });
    const stop = new AbortController();
    return { informer, stop, running: informer.run(stop.signal) };
  }

  /** By discovery: what objects of the kind are called in a path. */
  async #resolve({ apiVersion, kind }: ParamKind): Promise<Kind<KubernetesObject>> {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const { resources = [] } = (await this.client.raw(path, AbortSignal.timeout(patience))) as {
      readonly resources?: readonly {
        readonly name: string;
        readonly kind: string;
        readonly namespaced: boolean;
      }[];
    };
    const resource = resources.find((each) => each.kind === kind && !each.name.includes('/'));
    if (resource === undefined) throw new Error(`paramKind ${kind} of ${apiVersion} is not served`);
    return { group, version, kind, resource: resource.name, namespaced: resource.namespaced };
  }
}

/** Most often it is not allowed to the server to list them, which the log tells. */
async function known(informer: SharedInformer<KubernetesObject>): Promise<void> {
  try {
    await informer.synced(AbortSignal.timeout(patience));
  } catch (error) {
    throw new Error(`${informer.kind.resource} could not be read within ${patience} ms`, { cause: error });
  }
}

/** Undefined: cluster-scoped. */
function placeOf(
  { namespaced }: Kind<KubernetesObject>,
  reference: ParamRef,
  namespace: string | undefined,
): string | undefined {
  const { namespace: named = '' } = reference;
  if (!namespaced) {
    if (named !== '')
      throw new Error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return undefined;
  }
  const place = named === '' ? namespace : named;
  if (place === undefined)
    throw new Error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return place;
}

/** Lists leave out what all their items share. */
function withKind(object: KubernetesObject, { apiVersion, kind }: ParamKind): object {
  return { ...object, apiVersion, kind };
}
