/**
 * What a cluster's API server asks about pods, which it holds itself. Standalone, the same rules are part of the write path.
 * Who may ask is authorization's to say, as of any path: the cluster's API server comes without credentials unless it is given some.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Eviction } from '../../openapi/generated/types/policy_v1.js';
import { containersToAdd } from '../admission/launcherpod/mutate.js';
import { admitEviction, type EvictionDependencies } from '../admission/podeviction/admit.js';
import type { PathRoute } from '../server/router.js';
import { reviewHandler, type ReviewAnswer, type ReviewRequest } from './review.js';

export const webhookPaths = {
  /** Mutating: new pods. */
  launcherPods: '/webhooks/launcher-pods/mutate',
  /** Validating: `pods/eviction`. */
  podEvictions: '/webhooks/pod-evictions/validate',
} as const;

const allowed: ReviewAnswer = { allowed: true };

export function webhookRoutes(dependencies: EvictionDependencies): readonly PathRoute[] {
  return [
    {
      path: webhookPaths.launcherPods,
      handle: reviewHandler((request) => mutatePod(request, dependencies)),
      methods: ['POST'],
    },
    {
      path: webhookPaths.podEvictions,
      handle: reviewHandler((request) => reviewEviction(request, dependencies)),
      methods: ['POST'],
    },
  ];
}

async function mutatePod(
  { resource, object, namespace }: ReviewRequest,
  { registry, configuration }: EvictionDependencies,
): Promise<ReviewAnswer> {
  if (resource !== 'pods' || object === undefined) return allowed;
  const added = await containersToAdd(object, namespace, registry.lookups, configuration());
  return { allowed: true, patch: added.map((value) => ({ op: 'add', path: '/spec/containers/-', value })) };
}

/** A pod that can not be found is none of ours. */
async function reviewEviction(
  { namespace, name, object, dryRun }: ReviewRequest,
  dependencies: EvictionDependencies,
): Promise<ReviewAnswer> {
  const pod = await dependencies.registry.lookups.get<Pod>('', 'pods', namespace, name);
  if (pod === undefined) return allowed;
  const eviction: Eviction | undefined = object;
  const message = await admitEviction(
    pod,
    {
      dryRun: dryRun || (eviction?.deleteOptions?.dryRun ?? []).length > 0,
      annotations: eviction?.metadata.annotations,
    },
    dependencies,
  );
  return message === undefined ? allowed : { allowed: false, code: 429, message };
}
