/** Which part of the server answers a request. */
import type { IncomingMessage } from 'node:http';
import type { KubernetesObject } from '../../openapi/meta.js';
import { compileValidator } from '../../openapi/validate.js';
import type { Discovery } from '../discovery/discovery.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import { jsonReply, pathNotFound } from '../http/status-reply.js';
import { readTypedBody, type BodyKind } from '../http/typed-body.js';
import type { Handler, Reply, RequestContext, RequestInfo } from '../request.js';
import { SubresourceTable, type Connection, type Subresource } from '../subresources/interface.js';
import type { VirtualResource } from '../discovery/virtual-resource.js';
import type { Api } from './config.js';

/** How a request goes on: as an HTTP answer, or as a stream on the upgraded connection. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'connection'; readonly connection: Connection };

export interface PathRoute {
  /** Also answers for every path below this one. */
  readonly path: string;
  readonly handle: Handler;
  /** GET and HEAD if absent. */
  readonly methods?: readonly string[];
}

const readMethods = ['GET', 'HEAD'];

export class Router {
  readonly #paths = new Map<string, PathRoute>();
  readonly #virtual = new Map<string, VirtualResource>();
  /** Made at the first request for each: most servers are never asked for most of them. */
  readonly #bodies = new Map<VirtualResource, BodyKind>();
  readonly #subresources: SubresourceTable;
  readonly #api: Api;
  readonly #discovery: Discovery;

  constructor(api: Api, discovery: Discovery, routes: readonly PathRoute[]) {
    this.#api = api;
    this.#discovery = discovery;
    for (const route of [...routes, ...(api.paths ?? [])]) this.#paths.set(route.path, route);
    for (const virtual of api.virtualResources) {
      this.#virtual.set(`${virtual.group}/${virtual.version}/${virtual.plural}`, virtual);
    }
    this.#subresources = new SubresourceTable(api.subresources);
  }

  /** Whether the target is one of ours; what is not must not become a label of a metric. */
  knows(info: RequestInfo): boolean {
    return !info.isResource || this.#discovery.serves(info.group, info.version, info.resource);
  }

  /** @param upgrading the node request, if it asks to leave HTTP */
  async dispatch(context: RequestContext, upgrading: IncomingMessage | undefined): Promise<Outcome> {
    const { info } = context;
    if (!info.isResource) return reply(await this.#path(context));
    if (!this.knows(info)) return reply(pathNotFound());
    const virtual = this.#virtual.get(`${info.group}/${info.version}/${info.resource}`);
    if (virtual !== undefined) return reply(await this.#createVirtual(virtual, context));
    const subresource = this.#subresource(info);
    if (subresource !== undefined) return this.#serveSubresource(subresource, context, upgrading);
    if (!this.#api.resources.some(({ group, plural }) => group === info.group && plural === info.resource)) {
      // A group that serves subresources only: the objects themselves are elsewhere, and this subresource is not there.
      return reply(pathNotFound());
    }
    return reply(await this.#api.handle(context));
  }

  async #createVirtual(virtual: VirtualResource, context: RequestContext): Promise<Reply> {
    const { info } = context;
    if (info.verb !== 'create' || info.name !== undefined) throw methodNotAllowed();
    if (virtual.namespaced !== (info.namespace !== undefined)) return pathNotFound();
    const object = readTypedBody<KubernetesObject>(context, this.#bodyKind(virtual));
    return jsonReply(await virtual.create(context, object), 201);
  }

  #bodyKind(virtual: VirtualResource): BodyKind {
    let body = this.#bodies.get(virtual);
    if (body === undefined) {
      const { group, version, kind, definition } = virtual;
      const validate = compileValidator(this.#api.definitions, definition);
      body = {
        kind,
        apiVersion: `${group}/${version}`,
        validate: (object) => validate(object),
        lenient: false,
      };
      this.#bodies.set(virtual, body);
    }
    return body;
  }

  #subresource(info: RequestInfo): Subresource | undefined {
    const { group, version, resource, name, namespace, subresource } = info;
    if (subresource !== undefined) return this.#subresources.find(group, version, resource, subresource);
    if (name !== undefined) return undefined;
    const found = this.#subresources.find(group, version, resource, '');
    return found?.namespaced === (namespace !== undefined) ? found : undefined;
  }

  async #serveSubresource(
    subresource: Subresource,
    context: RequestContext,
    upgrading: IncomingMessage | undefined,
  ): Promise<Outcome> {
    if (!subresource.verbs.includes(context.info.verb)) throw methodNotAllowed();
    if (subresource.type === 'action') return reply(await subresource.handle(context));
    if (upgrading === undefined) throw badRequest('Upgrade request required');
    return { kind: 'connection', connection: await subresource.connect(context, upgrading) };
  }

  #path(context: RequestContext): Promise<Reply> {
    const { method, path } = context.info;
    let prefix = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    for (;;) {
      const route = this.#paths.get(prefix);
      if (route !== undefined) {
        if (!(route.methods ?? readMethods).includes(method)) throw methodNotAllowed();
        return route.handle(context);
      }
      // The root lists the paths and answers for none of them.
      const slash = prefix.lastIndexOf('/');
      if (slash <= 0) return Promise.resolve(pathNotFound());
      prefix = prefix.slice(0, slash);
    }
  }
}

function reply(value: Reply): Outcome {
  return { kind: 'reply', reply: value };
}

function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}
