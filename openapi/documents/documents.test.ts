import assert from 'node:assert/strict';
import test from 'node:test';
import { loadDefinitions } from '../definitions.js';
import type { Definitions } from '../schema.js';
import type { PublishedResource, PublishedSubresource } from './published-resource.js';
import { createDocumentSource } from './source.js';
import { namedDefinitions } from './subresource-details.js';

const definitions = loadDefinitions();
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function resource(
  group: string,
  version: string,
  plural: string,
  definition: string,
  more: Partial<PublishedResource> = {},
): PublishedResource {
  const kind = definition.slice(definition.lastIndexOf('.') + 1);
  const base = {
    group,
    version,
    kind,
    plural,
    definition,
    namespaced: true,
    verbs: allVerbs,
    returnsDeletedObject: false,
    status: true,
    scale: false,
  };
  return { ...base, subresources: [], ...more };
}

function subresource(name: string, verb: string): PublishedSubresource {
  return {
    name,
    verbs: [verb],
    responseKind: { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachine' },
  };
}

const vmSubresources = [subresource('start', 'update'), subresource('portforward', 'get')];
const vm = 'io.kubevirt.v1.VirtualMachine';
const resources: readonly PublishedResource[] = [
  resource('kubevirt.io', 'v1', 'virtualmachines', vm, {
    subresources: vmSubresources,
    returnsDeletedObject: true,
  }),
  resource('kubevirt.io', 'v1alpha3', 'virtualmachines', vm),
  resource(
    'kubevirt.io',
    'v1',
    'virtualmachineinstancereplicasets',
    'io.kubevirt.v1.VirtualMachineInstanceReplicaSet',
    {
      scale: true,
    },
  ),
  resource(
    'migrations.kubevirt.io',
    'v1alpha1',
    'migrationpolicies',
    'io.kubevirt.migrations.v1alpha1.MigrationPolicy',
    {
      namespaced: false,
      status: false,
    },
  ),
  resource('', 'v1', 'pods', 'io.k8s.api.core.v1.Pod', { subresources: [subresource('binding', 'create')] }),
  resource(
    'authorization.k8s.io',
    'v1',
    'subjectaccessreviews',
    'io.k8s.api.authorization.v1.SubjectAccessReview',
    {
      namespaced: false,
      status: false,
      verbs: ['create'],
    },
  ),
  resource('subresources.kubevirt.io', 'v1', 'virtualmachines', vm, {
    definition: undefined,
    verbs: [],
    status: false,
    subresources: vmSubresources,
  }),
];

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>
  >;
  readonly 'x-kubernetes-action'?: string;
  readonly 'x-kubernetes-group-version-kind'?: unknown;
}

interface PublishedSchema {
  readonly 'x-kubernetes-group-version-kind'?: unknown;
  readonly properties?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, PublishedSchema>> };
  readonly definitions: Readonly<Record<string, PublishedSchema>>;
}

const source = createDocumentSource(definitions, resources, 'v1.36.0');
const parse = (bytes: Buffer): Document => JSON.parse(bytes.toString()) as Document;
const v3 = (path: string): Document => parse(source.v3(path));
const everyDocument = [...source.v3Paths.map(v3), parse(source.v2())];

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function at(document: unknown, pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

test('one document a group-version', () => {
  assert.deepEqual(source.v3Paths, [
    'api/v1',
    'apis/authorization.k8s.io/v1',
    'apis/kubevirt.io/v1',
    'apis/kubevirt.io/v1alpha3',
    'apis/migrations.kubevirt.io/v1alpha1',
    'apis/subresources.kubevirt.io/v1',
  ]);
  assert.equal(source.v3('api/v1'), source.v3('api/v1'));
  assert.throws(() => source.v3('apis/nope/v1'), /no OpenAPI document/);
});

test('no reference dangles', () => {
  for (const document of everyDocument)
    for (const reference of new Set(referencesIn(document)))
      assert.notEqual(at(document, reference), undefined, reference);
});

test('no reference dangles when every definition is published', () => {
  const all = Object.keys(definitions).map((name, index) =>
    resource('all.example.com', 'v1', `r${index}`, name),
  );
  const document = parse(createDocumentSource(definitions, all, '').v3('apis/all.example.com/v1'));
  for (const reference of new Set(referencesIn(document)))
    assert.notEqual(at(document, reference), undefined);
});

test('operations are named once, and declare the parameters of their path', () => {
  for (const { paths } of everyDocument) {
    const ids = new Set<string>();
    for (const [path, item] of Object.entries(paths))
      for (const { operationId, parameters = [] } of Object.values(item)) {
        assert.ok(!ids.has(operationId), operationId);
        ids.add(operationId);
        const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        assert.deepEqual([...declared].sort(), inPath.sort(), operationId);
        assert.equal(new Set(parameters.map(({ name }) => name)).size, parameters.length, operationId);
      }
  }
});

test('what a delete answers with', () => {
  const answers = (document: string, path: string): unknown[] => {
    const { responses } = v3(document).paths[path]?.['delete'] ?? {};
    return ['200', '202'].map((code) => responses?.[code]?.content?.['application/json']?.schema);
  };
  const twice = (definition: string): unknown[] =>
    Array(2).fill({ $ref: `#/components/schemas/${definition}` });
  const machines = '/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}';
  assert.deepEqual(answers('apis/kubevirt.io/v1', machines), twice(vm));
  const policies = 'apis/migrations.kubevirt.io/v1alpha1';
  assert.deepEqual(
    answers(policies, `/${policies}/migrationpolicies/{name}`),
    twice('io.k8s.apimachinery.pkg.apis.meta.v1.Status'),
  );
});

test('what kubectl reads', () => {
  const { paths, components } = v3('apis/kubevirt.io/v1');
  const item = paths['/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}'];
  const kind = { group: 'kubevirt.io', version: 'v1', kind: 'VirtualMachine' };
  assert.deepEqual(Object.keys(item ?? {}), ['get', 'put', 'patch', 'delete']);
  const patch = item?.['patch'];
  assert.ok(patch);
  assert.deepEqual(patch['x-kubernetes-group-version-kind'], kind);
  assert.equal(patch['x-kubernetes-action'], 'patch');
  assert.ok(patch.parameters?.some(({ name }) => name === 'fieldValidation'));
  assert.deepEqual(Object.keys(patch.requestBody?.content ?? {}), [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
  ]);
  assert.deepEqual(components.schemas[vm]?.['x-kubernetes-group-version-kind'], [kind]);
  assert.deepEqual(components.schemas[`${vm}List`]?.['x-kubernetes-group-version-kind'], [
    { ...kind, kind: 'VirtualMachineList' },
  ]);
  const [older] = v3('apis/kubevirt.io/v1alpha3').components.schemas[vm]?.[
    'x-kubernetes-group-version-kind'
  ] as [unknown];
  assert.deepEqual(older, { ...kind, version: 'v1alpha3' });
});

test('only core kinds offer strategic merge patch, and say how their lists are merged', () => {
  const strategic = 'application/strategic-merge-patch+json';
  const offering = (path: string): string[] =>
    Object.entries(v3(path).paths)
      .filter(([, item]) => strategic in (item['patch']?.requestBody?.content ?? {}))
      .map(([name]) => name);
  const pod = '/api/v1/namespaces/{namespace}/pods/{name}';
  assert.deepEqual(offering('api/v1'), [pod, `${pod}/status`]);
  assert.deepEqual(offering('apis/kubevirt.io/v1'), []);
  const containers =
    v3('api/v1').components.schemas['io.k8s.api.core.v1.PodSpec']?.properties?.['containers'];
  assert.equal(containers?.['x-kubernetes-patch-strategy'], 'merge');
  assert.equal(containers['x-kubernetes-patch-merge-key'], 'name');
});

test('the paths of a resource follow its scope and verbs', () => {
  const paths = (path: string): string[] => Object.keys(v3(path).paths);
  assert.deepEqual(paths('apis/migrations.kubevirt.io/v1alpha1'), [
    '/apis/migrations.kubevirt.io/v1alpha1/',
    '/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies',
    '/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies/{name}',
  ]);
  assert.deepEqual(paths('apis/subresources.kubevirt.io/v1'), [
    '/apis/subresources.kubevirt.io/v1/',
    '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/start',
    '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/portforward/{port}',
    '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}/portforward/{port}/{protocol}',
  ]);
  const review = v3('apis/authorization.k8s.io/v1').paths[
    '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  ];
  assert.deepEqual(Object.keys(review ?? {}), ['post']);
  const core = paths('api/v1');
  assert.ok(core.includes('/api/v1/pods'));
  assert.ok(core.includes('/api/v1/namespaces/{namespace}/pods/{name}/status'));
  assert.ok(core.includes('/api/v1/namespaces/{namespace}/pods/{name}/binding'));
  assert.ok(
    paths('apis/kubevirt.io/v1').some((path) =>
      path.endsWith('/virtualmachineinstancereplicasets/{name}/scale'),
    ),
  );
});

test('quantities are strings, and a reference beside a description is wrapped', () => {
  const example: Definitions = {
    ...definitions,
    Example: {
      type: 'object',
      properties: {
        size: { $ref: 'io.k8s.apimachinery.pkg.api.resource.Quantity', description: 'How much.' },
        status: { $ref: 'Inner', nullable: true },
      },
    },
    Inner: { type: 'object', nullable: true },
  };
  const made = createDocumentSource(example, [resource('example.com', 'v1', 'examples', 'Example')], '');
  const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
  const three = parse(made.v3('apis/example.com/v1')).components.schemas;
  assert.deepEqual(three['Example']?.properties, {
    size: { description: 'How much.', allOf: [{ $ref: `#/components/schemas/${quantity}` }] },
    status: { $ref: '#/components/schemas/Inner' },
  });
  assert.deepEqual(three['Inner'], { type: 'object', nullable: true });
  const two = parse(made.v2()).definitions;
  assert.deepEqual(two['Example']?.properties, {
    size: { description: 'How much.', $ref: `#/definitions/${quantity}` },
    status: { $ref: '#/definitions/Inner' },
  });
  assert.deepEqual(two['Inner'], { type: 'object' });
  assert.equal((two[quantity] as { type?: string }).type, 'string');
});

test('subresources name definitions that exist', () => {
  for (const name of namedDefinitions()) assert.ok(name in definitions, name);
});
