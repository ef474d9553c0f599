/** Tells the cluster whom to trust when it calls us: the `caBundle` of what carries our label. */
import { injectAuthoritiesLabel } from '../../openapi/certificates.js';
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { ControllerDependencies } from '../dependencies.js';
import type { Kind, Patch } from '../runtime/client.js';
import { Controller } from '../runtime/controller.js';
import type { Informer } from '../runtime/informer.js';
import {
  apiServices,
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
  type APIService,
  type WebhookConfiguration,
} from './kinds.js';
import { bundleOf } from './secrets.js';

const scope = { labelSelector: `${injectAuthoritiesLabel}=true` };

interface Target {
  /** Keys are the kind's resource and the object's name. */
  keys(): string[];
  readonly informer: Informer<KubernetesObject>;
  bring(name: string, bundle: string, signal: AbortSignal): Promise<void>;
}

/** @param authority the informer of the Secret that holds the bundle */
export function createInjector(deps: ControllerDependencies, authority: Informer<Secret>): Controller {
  const targets: Readonly<Record<string, Target>> = {
    [apiServices.resource]: target(deps, apiServices, patchOfService),
    [mutatingWebhookConfigurations.resource]: target(deps, mutatingWebhookConfigurations, patchOfWebhooks),
    [validatingWebhookConfigurations.resource]: target(
      deps,
      validatingWebhookConfigurations,
      patchOfWebhooks,
    ),
  };
  const all = Object.values(targets);
  const controller = new Controller({
    name: 'certificates-injector',
    informers: [authority, ...all.map(({ informer }) => informer)],
    async reconcile(key, signal) {
      const [resource = '', name = ''] = key.split('/');
      const bundle = bundleOf(authority.list()[0]);
      if (bundle !== undefined) await targets[resource]?.bring(name, bundle, signal);
      return undefined;
    },
    logger: deps.logger,
    clock: deps.clock,
    workers: 1,
    limits: deps.limits,
    metrics: deps.metrics,
  });
  const enqueueAll = (): void => {
    for (const key of all.flatMap((each) => each.keys())) controller.enqueue(key);
  };
  authority.addHandler({ add: enqueueAll, update: enqueueAll });
  for (const { informer } of all) {
    const enqueue = ({ metadata }: KubernetesObject): void => {
      controller.enqueue(`${informer.kind.resource}/${metadata.name}`);
    };
    informer.addHandler({ add: enqueue, update: (_before, after) => enqueue(after) });
  }
  return controller;
}

function target<T extends KubernetesObject>(
  { client, informers, logger }: ControllerDependencies,
  kind: Kind<T>,
  patchOf: (object: T, bundle: string) => Patch | undefined,
): Target {
  const informer = informers.get(kind, scope);
  return {
    informer,
    keys: () => informer.list().map(({ metadata }) => `${kind.resource}/${metadata.name}`),
    async bring(name, bundle, signal) {
      const object = informer.get({ name });
      const patch = object === undefined ? undefined : patchOf(object, bundle);
      if (patch === undefined) return;
      await client.patch(kind, { name }, patch, undefined, signal);
      logger.info({ kind: kind.kind, name }, 'was told which authorities to trust');
    },
  };
}

function patchOfService({ metadata, spec }: APIService, caBundle: string): Patch | undefined {
  if (spec.caBundle === caBundle) return undefined;
  const { uid, resourceVersion } = metadata;
  return { type: 'merge', body: { metadata: { uid, resourceVersion }, spec: { caBundle } } };
}

function patchOfWebhooks(
  { metadata, webhooks = [] }: WebhookConfiguration,
  caBundle: string,
): Patch | undefined {
  const changes = webhooks.flatMap(({ clientConfig }, index) =>
    clientConfig.caBundle === caBundle
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }],
  );
  if (changes.length === 0) return undefined;
  const unchanged = { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion };
  return { type: 'json', body: [unchanged, ...changes] };
}
