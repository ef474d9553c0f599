/** One webhook and one write: whether it is concerned, what it answers, and what follows if it does not. */
import type { Logger } from 'pino';
import type { AdmissionContext, AdmissionRequest } from '../admission/interface.js';
import { asBool, valueOf } from '../cel/values.js';
import { forbidden } from '../registry/endpoint.js';
import type { ScalePaths } from '../registry/resource.js';
import type { ClientConfig, Webhook } from './configuration.js';
import { matchedVersion, selectorsMatch, type MatchDependencies } from './matching.js';
import { CallFailure, denied, dryRunUnsupported, internal } from './refusals.js';
import {
  readReview,
  ReviewError,
  reviewOf,
  reviewVersion,
  type AdmissionReview,
  type ReviewResponse,
} from './review.js';
import { objectView, scaleView, type View } from './view.js';

/** Carries a review to a webhook. */
export interface WebhookCaller {
  /** The answer, parsed. Rejects, saying why, if none came in time. */
  call(
    client: ClientConfig,
    review: AdmissionReview,
    timeoutSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown>;
}

export interface WebhookDependencies extends MatchDependencies {
  readonly caller: WebhookCaller;
  /** Undefined if the resource has no scale. */
  readonly scalePaths: (group: string, resource: string) => ScalePaths | undefined;
  readonly uuid: () => string;
  readonly logger: Pick<Logger, 'warn'>;
}

/** A call that is to be made. */
export interface Invocation {
  readonly webhook: Webhook;
  /** In which the webhook wants to see the object. */
  readonly version: string;
  readonly view: View;
  /** Its place in the audit log: `round_0_index_2`. */
  readonly place: string;
}

/** Undefined if the webhook is not concerned. Throws Forbidden if that can not be told and the webhook must not be passed over. */
export async function invocationOf(
  webhook: Webhook,
  place: string,
  request: AdmissionRequest,
  dependencies: WebhookDependencies,
): Promise<Invocation | undefined> {
  const version = matchedVersion(webhook, request, dependencies.versionsOf);
  if (version === undefined) return undefined;
  if (!(await selectorsMatch(webhook, request, dependencies.namespaceLabels))) return undefined;
  const scale =
    request.subresource === 'scale' ? dependencies.scalePaths(request.group, request.resource) : undefined;
  const view = scale === undefined ? objectView(request, version) : scaleView(scale);
  const invocation = { webhook, version, view, place };
  return conditionsHold(invocation, request, dependencies) ? invocation : undefined;
}

/** One condition that does not hold decides, whatever can not be told of the others. */
function conditionsHold(
  { webhook, version, view }: Invocation,
  request: AdmissionRequest,
  { logger }: WebhookDependencies,
): boolean {
  const { name, matchConditions, failurePolicy } = webhook;
  if (matchConditions.length === 0) return true;
  const { object, oldObject, ...review } = reviewOf(request, version, view, '').request;
  const variables = { object: valueOf(object), oldObject: valueOf(oldObject), request: valueOf(review) };
  const failures: string[] = [];
  for (const condition of matchConditions) {
    try {
      if (!asBool(condition.holds(variables))) return false;
    } catch (error) {
      failures.push(`${condition.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (failures.length === 0) return true;
  const why = `match conditions of webhook ${JSON.stringify(name)} can not be evaluated: ${failures.join('; ')}`;
  if (failurePolicy === 'Fail') {
    const { group, resource, name: object } = request;
    throw forbidden({ group, plural: resource }, object, why);
  }
  logger.warn(
    { webhook: name, failures },
    'a webhook is passed over: its match conditions can not be evaluated',
  );
  return false;
}

/**
 * What the webhook allowed; undefined if it failed and that is to be ignored. Throws an ApiError if it refused, or failed and must
 * not.
 * @param type names the failure in the audit log
 */
export async function invoke(
  { webhook, version, view, place }: Invocation,
  type: 'mutation' | 'validating',
  request: AdmissionRequest,
  context: AdmissionContext,
  { caller, uuid, logger }: WebhookDependencies,
): Promise<ReviewResponse | undefined> {
  if (request.dryRun && !webhook.supportsDryRun) throw dryRunUnsupported(webhook.name);
  let response: ReviewResponse;
  try {
    response = await ask(webhook, reviewOf(request, version, view, uuid()), caller, context.signal);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (webhook.failurePolicy === 'Fail') throw internal(error.message, error);
    logger.warn({ err: error, webhook: webhook.name }, 'a webhook failed, and its policy is to go on');
    context.annotate?.(`failed-open.${type}.webhook.admission.k8s.io/${place}`, webhook.name);
    return undefined;
  }
  for (const text of response.warnings) context.warn(text);
  for (const [key, value] of Object.entries(response.auditAnnotations))
    context.annotate?.(`${webhook.name}/${key}`, value);
  if (!response.allowed) throw denied(webhook.name, response.status);
  return response;
}

async function ask(
  { name, clientConfig, timeoutSeconds, reviewVersions }: Webhook,
  review: AdmissionReview,
  caller: WebhookCaller,
  signal: AbortSignal | undefined,
): Promise<ReviewResponse> {
  if (!reviewVersions.includes(reviewVersion))
    throw new CallFailure(name, `it takes reviews of ${reviewVersions.join(', ')}, not of ${reviewVersion}`);
  let answer: unknown;
  try {
    answer = await caller.call(clientConfig, review, timeoutSeconds, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    throw new CallFailure(name, `failed to call webhook: ${why}`, { cause: error });
  }
  try {
    return readReview(answer, review.request.uid);
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    throw new CallFailure(name, `received invalid webhook response: ${error.message}`, { cause: error });
  }
}
