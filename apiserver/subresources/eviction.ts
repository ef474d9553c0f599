/** `pods/eviction`, standalone: deletes a pod unless its budget or its guest holds it. In a cluster, kube-apiserver has it. */
import { admitEviction } from '../admission/podeviction/admit.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type {
  Eviction,
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../openapi/generated/types/policy_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import { compileValidator } from '../../openapi/validate.js';
import { ApiError, badRequest, notFound } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import { readTypedBody } from '../http/typed-body.js';
import { timestamp } from '../registry/metadata.js';
import type { Registry } from '../registry/registry.js';
import type { RequestContext } from '../request.js';
import type { ActionSubresource } from './interface.js';
import { isDryRun } from './options.js';
import { serverActor } from './server-user.js';

export interface EvictionDependencies {
  readonly registry: Pick<Registry, 'get' | 'list' | 'delete' | 'lookups' | 'guaranteedUpdate'>;
  readonly definitions: Definitions;
  readonly configuration: () => KubeVirtConfiguration;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Of what is sure to change soon. Clients wait by themselves where they are told to, and can not be told to hurry then. */
const processingSeconds = 10;

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
  if (held !== undefined) throw new ApiError('TooManyRequests', held);
  await respectBudgets(pod, dryRun, dependencies);
  const { gracePeriodSeconds, preconditions } = deleteOptions;
  const options = {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    // The pod that was looked at, and no other of its name.
    preconditions: { uid: pod.metadata.uid, ...preconditions },
  };
  await registry.delete(target, options, { user: context.user, dryRun });
}

/** Throws 429 if a budget holds the pod, and takes what it allows. One that does no work is never held. */
async function respectBudgets(pod: Pod, dryRun: boolean, dependencies: EvictionDependencies): Promise<void> {
  const { registry } = dependencies;
  const { phase } = pod.status ?? {};
  if (phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed') return;
  if (pod.metadata.deletionTimestamp !== undefined) return;
  const { namespace, name } = pod.metadata;
  const budgets = await registry.list<PodDisruptionBudget>('policy', 'poddisruptionbudgets', namespace);
  const [budget, another] = budgets.filter(({ spec }) =>
    compileLabelSelector(spec?.selector).matches(pod.metadata.labels),
  );
  if (budget === undefined) return;
  if (another !== undefined) {
    const message = `the pod has more than one disruption budget: ${budget.metadata.name}, ${another.metadata.name}`;
    throw tooMany(message, budget.metadata.name);
  }
  if (!isReady(pod) && mayEvictUnhealthy(budget)) return;
  const target = {
    group: 'policy',
    resource: 'poddisruptionbudgets',
    namespace: namespace ?? '',
    name: budget.metadata.name,
  };
  const now = timestamp(dependencies.now());
  await registry.guaranteedUpdate<PodDisruptionBudget>(
    target,
    (current) => void (current.status = withDisruption(current, name, now)),
    serverActor('status', dryRun),
  );
}

/** The status with one more disruption of those that it allows; the controller counts anew when the pod goes. */
function withDisruption(
  { metadata, status = {} }: PodDisruptionBudget,
  pod: string,
  now: string,
): PodDisruptionBudgetStatus {
  const { disruptionsAllowed = 0, desiredHealthy = 0, currentHealthy = 0, disruptedPods } = status;
  const held = "Cannot evict pod as it would violate the pod's disruption budget.";
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0))
    throw tooMany(
      held,
      `The disruption budget ${metadata.name} is still being processed by the server.`,
      processingSeconds,
    );
  if (disruptionsAllowed <= 0)
    throw tooMany(
      held,
      `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
    );
  return {
    ...status,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod]: now },
  };
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}

/** Of what does not work anyway, as long as the budget's other pods do. */
function mayEvictUnhealthy({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

function tooMany(message: string, cause: string, retryAfterSeconds?: number): ApiError {
  return new ApiError('TooManyRequests', message, {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
