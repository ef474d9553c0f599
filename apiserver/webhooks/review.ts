/** AdmissionReview of admission.k8s.io/v1: how a cluster's API server asks a webhook. */
import type { KubernetesObject } from '../../openapi/meta.js';
import { decodeBody, isJsonObject } from '../codec/decode.js';
import { badRequest } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import type { Handler } from '../request.js';

const apiVersion = 'admission.k8s.io/v1';
const kind = 'AdmissionReview';

export interface ReviewRequest {
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  /** Empty for a new object whose name is still to be generated. */
  readonly name: string;
  readonly resource: string;
  readonly subresource: string;
  /** As the client sent it; the caller has decoded it as the kind that it serves. Absent for deletes. */
  readonly object: KubernetesObject | undefined;
  readonly dryRun: boolean;
}

/** One operation of RFC 6902. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

export type ReviewAnswer =
  | { readonly allowed: true; readonly patch?: readonly PatchOperation[] }
  | {
      readonly allowed: false;
      /** HTTP status of the refusal. */ readonly code: number;
      readonly message: string;
    };

/** Serves one webhook. Throws BadRequest for what is no review; what `decide` throws fails the call, and the webhook's failurePolicy decides. */
export function reviewHandler(decide: (request: ReviewRequest) => Promise<ReviewAnswer>): Handler {
  return async ({ body, headers }) => {
    const { value } = decodeBody(body, headers['content-type']);
    const { uid, request } = readReview(value);
    const response = { uid, ...responseOf(await decide(request)) };
    return jsonReply({ kind, apiVersion, response });
  };
}

function readReview(value: unknown): { readonly uid: string; readonly request: ReviewRequest } {
  if (!isJsonObject(value) || value['kind'] !== kind || value['apiVersion'] !== apiVersion) {
    throw badRequest(`the body must be an ${kind} of ${apiVersion}`);
  }
  const { request } = value;
  const text = (member: unknown): string => (typeof member === 'string' ? member : '');
  if (!isJsonObject(request) || text(request['uid']) === '')
    throw badRequest('the review has no request with a uid');
  const { uid, resource, object } = request;
  return {
    uid: text(uid),
    request: {
      namespace: text(request['namespace']),
      name: text(request['name']),
      resource: isJsonObject(resource) ? text(resource['resource']) : '',
      subresource: text(request['subResource']),
      // The caller has decoded it: see `ReviewRequest`.
      object: isJsonObject(object) ? (object as unknown as KubernetesObject) : undefined,
      dryRun: request['dryRun'] === true,
    },
  };
}

function responseOf(answer: ReviewAnswer): object {
  if (!answer.allowed) {
    const { code, message } = answer;
    return { allowed: false, status: { code, message } };
  }
  if (answer.patch === undefined || answer.patch.length === 0) return { allowed: true };
  const patch = Buffer.from(JSON.stringify(answer.patch)).toString('base64');
  return { allowed: true, patchType: 'JSONPatch', patch };
}
