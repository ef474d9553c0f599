/** The operations of a resource, told once for both versions of OpenAPI. */
import { isNative } from '../structural.js';
import type { GroupVersionKind, PublishedResource, PublishedSubresource } from './published-resource.js';
import { groupVersionPath } from './published-resource.js';
import * as parameters from './parameters.js';
import type { Parameter } from './parameters.js';
import { subresourceDetails } from './subresource-details.js';

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

export interface Operation {
  /** From the root: `/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines`. */
  readonly path: string;
  readonly method: Method;
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  /** `x-kubernetes-action`. */
  readonly action: string | undefined;
  readonly kind: GroupVersionKind | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Body | undefined;
  readonly responses: readonly Response[];
}

export interface Body {
  /** Full name of a definition. */
  readonly definition: string;
  readonly mediaTypes: readonly string[];
  readonly required: boolean;
}

export interface Response {
  readonly code: number;
  readonly description: string;
  /** Absent: text. */
  readonly definition: string | undefined;
  readonly mediaTypes: readonly string[];
}

const meta = (name: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`;
const scaleDefinition = 'io.k8s.api.autoscaling.v1.Scale';
const scaleKind: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
/** The body of a patch: any JSON. Published under this name; not among the definitions. */
export const patchDefinition = meta('Patch');

const documentTypes = ['application/json', 'application/yaml'];
const listTypes = [...documentTypes, 'application/json;stream=watch'];
const patchTypes = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
];
/** kubectl sends this for a kind whenever it is named here, so only for kinds whose patches the server reads so. */
const nativePatchTypes = [...patchTypes, 'application/strategic-merge-patch+json'];

/** `io.kubevirt.v1.VirtualMachine` → `io.kubevirt.v1.VirtualMachineList`. */
export function listDefinition(definition: string): string {
  return `${definition}List`;
}

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, `kubevirt.io` → `KubevirtIo`, '' → `Core`. */
function groupName(group: string): string {
  if (group === '') return 'Core';
  return group
    .replace(/\.k8s\.io$/, '')
    .split('.')
    .map(capital)
    .join('');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** `vnc/screenshot` → `VncScreenshot`, `/{port}` → `WithPort`. */
function camel(path: string): string {
  return path
    .split(/[/-]/)
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? `With${capital(part.slice(1, -1))}` : capital(part)))
    .join('');
}

/** All operations of one resource, in the order of their paths. */
export function operationsOf(resource: PublishedResource): Operation[] {
  const builder = new Builder(resource);
  return [
    ...(resource.definition === undefined ? [] : builder.main(resource.definition)),
    ...resource.subresources.flatMap((subresource) => builder.subresource(subresource)),
  ];
}

/** The operation that lists the resources of a group-version. */
export function resourceListOperation(group: string, version: string): Operation {
  return {
    path: `/${groupVersionPath(group, version)}/`,
    method: 'get',
    id: `get${groupName(group)}${capital(version)}APIResources`,
    tag: tagOf(group, version),
    description: 'List the resources of this version.',
    action: undefined,
    kind: undefined,
    parameters: [],
    body: undefined,
    responses: [ok(meta('APIResourceList'))],
  };
}

function tagOf(group: string, version: string): string {
  return `${lowerFirst(groupName(group))}_${version}`;
}

function ok(definition: string | undefined, mediaTypes = documentTypes): Response {
  return { code: 200, description: 'OK', definition, mediaTypes };
}

function created(definition: string): Response {
  return { ...ok(definition), code: 201, description: 'Created' };
}

function accepted(definition: string): Response {
  return { ...ok(definition), code: 202, description: 'Accepted' };
}

class Builder {
  private readonly kind: GroupVersionKind;
  private readonly collection: string;
  private readonly item: string;

  constructor(private readonly resource: PublishedResource) {
    const { group, version, kind, plural, namespaced } = resource;
    const root = `/${groupVersionPath(group, version)}`;
    this.kind = { group, version, kind };
    this.collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
    this.item = `${this.collection}/{name}`;
  }

  main(definition: string): Operation[] {
    const verbs = new Set(this.resource.verbs);
    const operations: Operation[] = [];
    if (verbs.has('list')) operations.push(...this.lists(definition));
    if (verbs.has('create')) operations.push(this.create(definition));
    if (verbs.has('deletecollection')) operations.push(this.deleteCollection());
    operations.push(...this.view('', definition, this.kind, verbs));
    if (verbs.has('delete')) operations.push(this.delete(definition));
    const viewVerbs = new Set(['get', 'update', 'patch']);
    if (this.resource.status) operations.push(...this.view('status', definition, this.kind, viewVerbs));
    if (this.resource.scale) operations.push(...this.view('scale', scaleDefinition, scaleKind, viewVerbs));
    return operations;
  }

  subresource({ name, verbs, responseKind }: PublishedSubresource): Operation[] {
    const details = subresourceDetails(this.resource.plural, name);
    return verbs.flatMap((verb) =>
      (details.suffixes ?? ['']).map((suffix) => {
        const method = methodOf(verb);
        const { body, response } = details;
        const pathParameters = [...suffix.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) =>
          parameters.path(parameter, `${parameter} of the guest`),
        );
        const action = details.connect === true ? 'connect' : actionOf(verb);
        return this.operation({
          path: name === '' ? this.collection : `${this.item}/${name}${suffix}`,
          method,
          id: this.id(
            details.connect === true ? `connect${capital(method)}` : idVerb(verb),
            camel(name === '' ? this.resource.plural : name + suffix),
          ),
          description: details.description,
          action,
          kind: responseKind,
          parameters: [
            ...(name === '' ? this.collectionParameters() : this.itemParameters()),
            ...pathParameters,
            ...(details.query ?? []).map(parameters.query),
          ],
          body:
            body === undefined || method === 'get'
              ? undefined
              : { definition: body.definition, mediaTypes: ['application/json'], required: body.required },
          responses: [
            { ...ok(response), mediaTypes: response === undefined ? ['text/plain'] : ['application/json'] },
          ],
        });
      }),
    );
  }

  private lists(definition: string): Operation[] {
    const { namespaced, plural, group, version, kind } = this.resource;
    const list = (path: string, id: string, scope: readonly Parameter[]): Operation =>
      this.operation({
        path,
        method: 'get',
        id,
        description: `List or watch objects of kind ${kind}.`,
        action: 'list',
        kind: this.kind,
        parameters: [...scope, ...parameters.list],
        body: undefined,
        responses: [ok(listDefinition(definition), listTypes)],
      });
    const inScope = list(this.collection, this.id('list'), this.collectionParameters());
    if (!namespaced) return [inScope];
    const prefix = `list${groupName(group)}${capital(version)}${kind}`;
    const everywhere = list(`/${groupVersionPath(group, version)}/${plural}`, `${prefix}ForAllNamespaces`, [
      parameters.pretty,
    ]);
    return [inScope, everywhere];
  }

  private create(definition: string): Operation {
    return this.operation({
      path: this.collection,
      method: 'post',
      id: this.id('create'),
      description: `Create an object of kind ${this.kind.kind}.`,
      action: 'post',
      kind: this.kind,
      parameters: [...this.collectionParameters(), ...parameters.write],
      body: { definition, mediaTypes: documentTypes, required: true },
      responses: [ok(definition), created(definition), accepted(definition)],
    });
  }

  private deleteCollection(): Operation {
    return this.operation({
      path: this.collection,
      method: 'delete',
      id: this.id('deleteCollection'),
      description: `Delete the objects of kind ${this.kind.kind} that are selected.`,
      action: 'deletecollection',
      kind: this.kind,
      parameters: [...this.collectionParameters(), ...parameters.deletion, ...parameters.selection],
      body: { definition: meta('DeleteOptions'), mediaTypes: documentTypes, required: false },
      responses: [ok(meta('Status'))],
    });
  }

  private delete(definition: string): Operation {
    const answer = this.resource.returnsDeletedObject ? definition : meta('Status');
    return this.operation({
      path: this.item,
      method: 'delete',
      id: this.id('delete'),
      description: `Delete an object of kind ${this.kind.kind}.`,
      action: 'delete',
      kind: this.kind,
      parameters: [...this.itemParameters(), ...parameters.deletion],
      body: { definition: meta('DeleteOptions'), mediaTypes: documentTypes, required: false },
      responses: [ok(answer), accepted(answer)],
    });
  }

  /** Reading and writing the object, or a view of it. */
  private view(
    name: string,
    definition: string,
    kind: GroupVersionKind,
    verbs: ReadonlySet<string>,
  ): Operation[] {
    const path = name === '' ? this.item : `${this.item}/${name}`;
    const what =
      name === ''
        ? `an object of kind ${this.kind.kind}`
        : `the ${name} of an object of kind ${this.kind.kind}`;
    const base = { path, kind, parameters: this.itemParameters() };
    const suffix = camel(name);
    const operations: Operation[] = [];
    if (verbs.has('get'))
      operations.push(
        this.operation({
          ...base,
          method: 'get',
          id: this.id('read', suffix),
          description: `Read ${what}.`,
          action: 'get',
          body: undefined,
          responses: [ok(definition)],
        }),
      );
    if (verbs.has('update'))
      operations.push(
        this.operation({
          ...base,
          method: 'put',
          id: this.id('replace', suffix),
          description: `Replace ${what}.`,
          action: 'put',
          parameters: [...base.parameters, ...parameters.write],
          body: { definition, mediaTypes: documentTypes, required: true },
          responses: [ok(definition), created(definition)],
        }),
      );
    if (verbs.has('patch'))
      operations.push(
        this.operation({
          ...base,
          method: 'patch',
          id: this.id('patch', suffix),
          description: `Change ${what} in part.`,
          action: 'patch',
          parameters: [...base.parameters, ...parameters.write, parameters.force],
          body: { definition: patchDefinition, mediaTypes: this.patchTypes(), required: true },
          responses: [ok(definition), created(definition)],
        }),
      );
    return operations;
  }

  private patchTypes(): readonly string[] {
    const { definition } = this.resource;
    return definition !== undefined && isNative(definition) ? nativePatchTypes : patchTypes;
  }

  private operation(operation: Omit<Operation, 'tag'>): Operation {
    return { ...operation, tag: tagOf(this.resource.group, this.resource.version) };
  }

  /** `replaceKubevirtIoV1NamespacedVirtualMachineStatus`. */
  private id(verb: string, suffix = ''): string {
    const { group, version, kind, namespaced } = this.resource;
    return `${verb}${groupName(group)}${capital(version)}${namespaced ? 'Namespaced' : ''}${kind}${suffix}`;
  }

  private collectionParameters(): readonly Parameter[] {
    return this.resource.namespaced ? [parameters.namespace, parameters.pretty] : [parameters.pretty];
  }

  private itemParameters(): readonly Parameter[] {
    return [parameters.path('name', `name of the ${this.kind.kind}`), ...this.collectionParameters()];
  }
}

function methodOf(verb: string): Method {
  switch (verb) {
    case 'create':
      return 'post';
    case 'update':
      return 'put';
    case 'patch':
      return 'patch';
    case 'delete':
      return 'delete';
    case 'get':
    case 'list':
    case 'connect':
      return 'get';
    default:
      throw new Error(`a subresource can not be published with the verb ${verb}`);
  }
}

function actionOf(verb: string): string {
  return methodOf(verb);
}

function idVerb(verb: string): string {
  return verb === 'get' ? 'read' : verb === 'update' ? 'replace' : verb;
}
