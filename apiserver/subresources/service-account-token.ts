/** `serviceaccounts/token`, standalone: makes a token for a service account. In a cluster, kube-apiserver has it. */
import type { TokenRequest, TokenRequestSpec } from '../../openapi/generated/types/authentication_v1.js';
import type { Definitions } from '../../openapi/schema.js';
import type { StatusCause } from '../../openapi/meta.js';
import { compileValidator } from '../../openapi/validate.js';
import {
  serviceAccountIssuer,
  type BoundObject,
  type ServiceAccountTokens,
} from '../authn/service-account-tokens.js';
import { badRequest, conflict, invalid, notFound } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import { readTypedBody } from '../http/typed-body.js';
import { invalidValue } from '../registry/metadata-rules.js';
import type { Registry } from '../registry/registry.js';
import type { ActionSubresource } from './interface.js';

export interface ServiceAccountTokenDependencies {
  readonly registry: Pick<Registry, 'get'>;
  readonly definitions: Definitions;
  readonly tokens: Pick<ServiceAccountTokens, 'issue'>;
}

const defaultSeconds = 3600;
const shortestSeconds = 600;
const longestSeconds = 2 ** 32;
const boundKinds: Readonly<Record<string, BoundObject['resource'] | undefined>> = {
  Pod: 'pods',
  Secret: 'secrets',
};

export function serviceAccountTokenSubresource(
  dependencies: ServiceAccountTokenDependencies,
): ActionSubresource {
  const { registry, definitions, tokens } = dependencies;
  let validator: ReturnType<typeof compileValidator> | undefined;
  return {
    type: 'action',
    resource: 'serviceaccounts',
    namespaced: true,
    name: 'token',
    servedUnder: [{ group: '', versions: ['v1'] }],
    responseKind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    verbs: ['create'],
    handle: async (context) => {
      const { namespace = '', name = '' } = context.info;
      const validate = (validator ??= compileValidator(
        definitions,
        'io.k8s.api.authentication.v1.TokenRequest',
      ));
      const request = readTypedBody<TokenRequest>(context, {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        validate: (object) => validate(object),
        lenient: false,
      });
      const { audiences = [], expirationSeconds = defaultSeconds, boundObjectRef } = request.spec ?? {};
      const causes = expirationCauses(expirationSeconds);
      if (causes.length > 0) throw invalid('authentication.k8s.io', 'TokenRequest', name, causes);
      const account = await registry.get({ group: '', resource: 'serviceaccounts', namespace, name });
      if (account === undefined) throw notFound('', 'serviceaccounts', name);
      const bound = await boundObject(registry, namespace, boundObjectRef);
      const subject = {
        namespace,
        serviceAccount: { name, uid: account.metadata.uid },
        ...(bound === undefined ? {} : { bound }),
      };
      const intended = audiences.length === 0 ? [serviceAccountIssuer] : audiences;
      const { token, expires } = tokens.issue(subject, intended, expirationSeconds);
      const expirationTimestamp = `${new Date(expires * 1000).toISOString().slice(0, 19)}Z`;
      const { kind, apiVersion } = request;
      const metadata = { name, namespace };
      const spec = { ...request.spec, audiences: intended, expirationSeconds };
      return jsonReply({ kind, apiVersion, metadata, spec, status: { token, expirationTimestamp } }, 201);
    },
  };
}

function expirationCauses(seconds: number): StatusCause[] {
  const field = 'spec.expirationSeconds';
  if (seconds < shortestSeconds) {
    return [invalidValue(field, seconds, 'may not specify a duration less than 10 minutes')];
  }
  return seconds > longestSeconds
    ? [invalidValue(field, seconds, 'may not specify a duration larger than 2^32 seconds')]
    : [];
}

async function boundObject(
  registry: Pick<Registry, 'get'>,
  namespace: string,
  reference: TokenRequestSpec['boundObjectRef'],
): Promise<BoundObject | undefined> {
  if (reference === undefined) return undefined;
  const { kind = '', apiVersion, name = '', uid = '' } = reference;
  const resource = apiVersion === 'v1' && Object.hasOwn(boundKinds, kind) ? boundKinds[kind] : undefined;
  if (resource === undefined) {
    throw badRequest(`cannot bind token for serviceaccount to object type ${apiVersion ?? ''}, Kind=${kind}`);
  }
  const object = await registry.get({ group: '', resource, namespace, name });
  if (object === undefined) throw notFound('', resource, name);
  if (uid !== '' && uid !== object.metadata.uid) {
    throw conflict('', resource, name, `the UID of the object is ${object.metadata.uid}, not ${uid}`);
  }
  return { resource, name, uid: object.metadata.uid };
}
