/** A whole server on loopback for tests: own authority, a few tokens, and a registry that the test chooses. */
import { once } from 'node:events';
import https from 'node:https';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { loadDefinitions } from '../../openapi/definitions.js';
import { StaticTokens } from '../../apiserver/authn/bearer-token.js';
import { parseTokenFile } from '../../apiserver/authn/token-file.js';
import { allowMasters, allowPaths } from '../../apiserver/authz/always-allow.js';
import { AuthorizerUnion, type Authorizer } from '../../apiserver/authz/authorizer.js';
import { notFound } from '../../apiserver/errors/api-error.js';
import { jsonReply } from '../../apiserver/http/status-reply.js';
import { ensureCa, type CertificateAuthority } from '../../apiserver/pki/authority.js';
import type { Resource } from '../../apiserver/registry/resource.js';
import type { Handler } from '../../apiserver/request.js';
import { createApiServer, type ApiServer } from '../../apiserver/server/api-server.js';
import { healthPaths } from '../../apiserver/server/native-api.js';
import { completeConfig, type Api, type ServerOptions } from '../../apiserver/server/config.js';

export const configMaps: Resource = {
  group: '',
  kind: 'ConfigMap',
  listKind: 'ConfigMapList',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  categories: [],
  namespaced: true,
  versions: [{ name: 'v1', definition: 'io.k8s.api.core.v1.ConfigMap' }],
  storageVersion: 'v1',
  status: false,
  columns: [],
  selectableFields: {},
  strategy: {},
};

/** Echoes what it was asked; the name `missing` is not found. */
const echo: Handler = (context) => {
  const { info, body } = context;
  if (info.name === 'missing') return Promise.reject(notFound(info.group, info.resource, info.name));
  return Promise.resolve(
    jsonReply({ verb: info.verb, name: info.name, bytes: body.length }, info.verb === 'create' ? 201 : 200),
  );
};

export interface TestServerOptions extends Partial<Omit<ServerOptions, 'api' | 'tls'>> {
  readonly handle?: Handler;
  readonly api?: Partial<Api>;
  readonly authorizer?: Authorizer;
}

/** Of any answer: the members that tests look at. */
export interface Body {
  readonly kind?: string;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly [member: string]: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly distinct: NodeJS.Dict<string[]>;
  readonly text: string;
  json(): Body;
}

/** The body, as what the test takes it for: nothing checks that but what the test asserts of it. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- so the cast has one place
export function json<T>({ text }: Answer): T {
  return JSON.parse(text) as T;
}

export interface RequestOptions {
  readonly token?: string;
  readonly cert?: { readonly cert: string; readonly key: string };
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Buffer | string;
  readonly agent?: https.Agent;
}

export interface TestServer {
  readonly server: ApiServer;
  readonly authority: CertificateAuthority;
  readonly ca: string;
  readonly port: number;
  readonly directory: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Sends the request and resolves with the response as soon as its head is there. */
  open(
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<{ request: ClientRequest; response: IncomingMessage }>;
}

/** Tokens: `admin` is in system:masters, `bob` is nobody in particular. */
const tokens = 'admin,admin,1,system:masters\nbob,bob,2,"devs,ops"\n';

export async function startTestServer(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-server-'));
  t.after(() => rm(directory, { recursive: true }));
  const authority = await ensureCa(directory);
  const serving = authority.issue({
    commonName: 'nativirt',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const { handle = echo, api = {}, authorizer, ...rest } = options;
  const config = await completeConfig({
    host: '127.0.0.1',
    port: 0,
    logger: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    build: { version: '0.0.0' },
    tokenVerifiers: [new StaticTokens(parseTokenFile(tokens, 'tokens'))],
    ...rest,
    tls: { ...serving, clientCa: authority.cert },
    authorizer: authorizer ?? new AuthorizerUnion([allowPaths(healthPaths), allowMasters]),
    api: {
      definitions: loadDefinitions(),
      resources: [configMaps],
      virtualResources: [],
      subresources: [],
      handle,
      ...api,
    },
  });
  const server = createApiServer(config);
  const { port } = await server.start();
  t.after(() => server.stop());
  const base = { directory, server, authority, ca: authority.cert, port };
  const open: TestServer['open'] = (method, path, request) => send(base, method, path, request);
  return { ...base, open, request: requestOf(base) };
}

/** Sends requests to any server and reads their answers whole. */
export function requestOf(server: { readonly port: number; readonly ca: string }): TestServer['request'] {
  return async (method, path, options) => {
    const { response } = await send(server, method, path, options);
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(response, 'end');
    const raw = Buffer.concat(chunks);
    const text = (response.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw).toString();
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      distinct: response.headersDistinct,
      text,
      json: () => JSON.parse(text) as Body,
    };
  };
}

async function send(
  { port, ca }: Pick<TestServer, 'port' | 'ca'>,
  method: string,
  path: string,
  options: RequestOptions = {},
): ReturnType<TestServer['open']> {
  const { token, cert, headers = {}, body, agent } = options;
  const request = https.request({
    host: '127.0.0.1',
    port,
    ca,
    method,
    path,
    agent: agent ?? false,
    ...cert,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || 'transfer-encoding' in headers
        ? {}
        : { 'content-length': Buffer.byteLength(body) }),
      ...headers,
    },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { request, response };
}
