/** `pods/eviction`, standalone: deletes a pod unless its budget or its guest holds it. In a cluster, kube-apiserver has it. */
import { admitEviction } from '../admission/podeviction/admit.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Eviction, PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import { compileValidator } from '../../openapi/validate.js';
import { ApiError, badRequest, notFound } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import { readTypedBody } from '../http/typed-body.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import { disruptionsAllowed } from './disruptions.js';
import type { ActionSubresource } from './interface.js';
import { isDryRun } from './options.js';

export interface EvictionDependencies {
  readonly registry: Pick<Registry, 'get' | 'list' | 'delete' | 'lookups' | 'guaranteedUpdate'>;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
}

const retryAfterSeconds = 10;

export function evictionSubresource(dependencies: EvictionDependencies): ActionSubresource {
  const read = evictionReader(dependencies.definitions);
  return {
    type: 'action',
    resource: 'pods',
    namespaced: true,
    name: 'eviction',
    servedUnder: [{ group: '', versions: ['v1'] }],
    responseKind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    verbs: ['create'],
    handle: async (context) => {
      await evict(context, read(context), dependencies);
      return jsonReply({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, 201);
    },
  };
}

/** The schema asks for no more. */
type SentEviction = Omit<Eviction, 'metadata'> & { readonly metadata?: Partial<Eviction['metadata']> };

function evictionReader(definitions: Definitions): (context: RequestContext) => SentEviction {
  let validator: ReturnType<typeof compileValidator> | undefined;
  return (context) => {
    const validate = (validator ??= compileValidator(definitions, 'io.k8s.api.policy.v1.Eviction'));
    return readTypedBody<SentEviction>(context, {
      kind: 'Eviction',
      apiVersion: 'policy/v1',
      validate: (object) => validate(object),
      lenient: false,
    });
  };
}

async function evict(
  context: RequestContext,
  { metadata, deleteOptions = {} }: SentEviction,
  dependencies: EvictionDependencies,
): Promise<void> {
  const { registry } = dependencies;
  const { namespace = '', name = '' } = context.info;
  const sentName = metadata?.name;
  if (sentName !== undefined && sentName !== name) {
    throw badRequest(`the name of the eviction (${sentName}) does not match the name on the URL (${name})`);
  }
  const dryRun = isDryRun(context, deleteOptions);
  const target = { group: '', resource: 'pods', namespace, name };
  const pod = await registry.get<Pod>(target);
  if (pod === undefined) throw notFound('', 'pods', name);
  const held = await admitEviction(pod, { dryRun, annotations: metadata?.annotations }, dependencies);
  if (held !== undefined) throw new ApiError('TooManyRequests', held, { retryAfterSeconds });
  await respectBudgets(pod, registry);
  const { gracePeriodSeconds, preconditions } = deleteOptions;
  const options = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    // The pod that was looked at, and no other of its name.
    preconditions: { uid: pod.metadata.uid, ...preconditions },
  };
  await registry.delete(target, options, { user: context.user, dryRun });
}

/** Throws 429 if a budget holds the pod. One that does no work is never held. */
async function respectBudgets(pod: Pod, registry: EvictionDependencies['registry']): Promise<void> {
  const { phase } = pod.status ?? {};
  if (phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed') return;
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const { namespace } = pod.metadata;
  const budgets = await registry.list<PodDisruptionBudget>('policy', 'poddisruptionbudgets', namespace);
  const covers = budgets.filter(({ spec }) =>
    compileLabelSelector(spec?.selector).matches(pod.metadata.labels),
  );
  const [budget, another] = covers;
  if (budget === undefined) return;
  const { name } = budget.metadata;
  if (another !== undefined) {
    throw tooMany(`the pod has more than one disruption budget: ${name}, ${another.metadata.name}`, name);
  }
  const matches = compileLabelSelector(budget.spec?.selector);
  const pods = (await registry.list<Pod>('', 'pods', namespace)).filter(({ metadata }) =>
    matches.matches(metadata.labels),
  );
  const { allowed, desired, healthy } = disruptionsAllowed(budget, pods);
  if (allowed > 0) return;
  throw tooMany(
    "Cannot evict pod as it would violate the pod's disruption budget.",
    `The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`,
  );
}

function tooMany(message: string, cause: string): ApiError {
  return new ApiError('TooManyRequests', message, {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    retryAfterSeconds,
  });
}
