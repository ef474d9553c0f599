/** AdmissionReview of admission.k8s.io/v1: what a webhook is asked, and what its answer may say. */
import type { KubernetesObject, Status } from '../../openapi/meta.js';
import type { AdmissionRequest } from '../admission/interface.js';
import { isJsonObject } from '../codec/decode.js';
import type { View } from './view.js';

export const reviewVersion = 'v1';
const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';

export interface AdmissionReview {
  readonly apiVersion: typeof apiVersion;
  readonly kind: typeof kind;
  readonly request: Readonly<Record<string, unknown>> & {
    readonly uid: string;
    readonly object: KubernetesObject | null;
  };
}

export interface ReviewResponse {
  readonly allowed: boolean;
  /** Of a refusal. */
  readonly status: Partial<Status> | undefined;
  /** A JSON patch, parsed. */
  readonly patch: unknown;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** An answer that is no AdmissionReview of v1 to what was asked. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError';
}

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

/** @param version in which the webhook's rules name the resource */
export function reviewOf(
  request: AdmissionRequest,
  version: string,
  view: View,
  uid: string,
): AdmissionReview {
  const show = (object: KubernetesObject | undefined): KubernetesObject | null =>
    object === undefined ? null : view.show(object);
  const { group, resource, subresource, namespace, user, operation, dryRun } = request;
  const { name: username, uid: userUid, groups, extra } = user;
  return {
    kind,
    apiVersion,
    request: {
      uid,
      kind: view.kindOf(version),
      resource: { group, version, resource },
      ...(subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource }),
      requestKind: view.kindOf(request.version),
      requestResource: { group, version: request.version, resource },
      name: request.name,
      ...(namespace === undefined ? {} : { namespace }),
      operation,
      userInfo: {
        username,
        ...(userUid === undefined ? {} : { uid: userUid }),
        groups,
        ...(Object.keys(extra).length === 0 ? {} : { extra }),
      },
      object: show(request.object),
      oldObject: show(request.oldObject),
      dryRun,
      options: {
        kind: optionKinds[operation],
        apiVersion: 'meta.k8s.io/v1',
        ...(dryRun ? { dryRun: ['All'] } : {}),
      },
    },
  };
}

/** Throws `ReviewError`. */
export function readReview(value: unknown, uid: string): ReviewResponse {
  if (!isJsonObject(value) || value['kind'] !== kind || value['apiVersion'] !== apiVersion)
    throw new ReviewError(`the answer is no ${kind} of ${apiVersion}`);
  const { response } = value;
  if (!isJsonObject(response)) throw new ReviewError('the review has no response');
  if (response['uid'] !== uid)
    throw new ReviewError(
      `response.uid is ${JSON.stringify(response['uid'])}, but ${JSON.stringify(uid)} was asked`,
    );
  const { allowed, status, patch, patchType, warnings, auditAnnotations } = response;
  if (typeof allowed !== 'boolean') throw new ReviewError('response.allowed is neither true nor false');
  return {
    allowed,
    status: isJsonObject(status) ? status : undefined,
    patch: readPatch(patch, patchType),
    warnings: Array.isArray(warnings) ? warnings.filter((each) => typeof each === 'string') : [],
    auditAnnotations: readAnnotations(auditAnnotations),
  };
}

function readPatch(patch: unknown, type: unknown): unknown {
  const absent = patch === undefined || patch === null || patch === '';
  if (absent && (type === undefined || type === null)) return undefined;
  if (type !== 'JSONPatch')
    throw new ReviewError(`response.patchType must be JSONPatch, not ${JSON.stringify(type)}`);
  if (typeof patch !== 'string' || patch === '') throw new ReviewError('response.patchType has no patch');
  try {
    return JSON.parse(Buffer.from(patch, 'base64').toString());
  } catch (error) {
    throw new ReviewError('response.patch is not JSON in base64', { cause: error });
  }
}

function readAnnotations(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
