import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import { loadDefinitions } from '../definitions.js';
import type { PublishedResource } from './published-resource.js';
import { createDocumentSource } from './source.js';
import { encodeOpenApiV2 } from './v2-protobuf.js';

const proto = loadSync(join(import.meta.dirname, 'testing', 'openapi-v2.proto'), {
  keepCase: true,
  longs: Number,
});

/** Reads with a decoder that is not ours. */
function decode(bytes: Buffer): unknown {
  // The loader gives its types no names of ours.
  const { Read } = proto['openapi.v2.Reader'] as { Read: MethodDefinition<object, object> };
  return JSON.parse(JSON.stringify(Read.responseDeserialize(bytes)));
}

const operation = {
  tags: ['example_v1'],
  description: 'Replace.',
  operationId: 'replace',
  consumes: ['application/json'],
  produces: ['application/json', 'application/yaml'],
  schemes: ['https'],
  parameters: [
    { name: 'name', in: 'path', description: 'which', type: 'string', required: true, uniqueItems: true },
    { name: 'dryRun', in: 'query', description: 'try', type: 'string', uniqueItems: true },
    { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/A' } },
  ],
  responses: { '200': { description: 'OK', schema: { type: 'string' } }, '401': { description: 'No' } },
  'x-kubernetes-group-version-kind': { group: 'g', version: 'v1', kind: 'A' },
};
const parameters = [
  {
    non_body_parameter: {
      path_parameter_sub_schema: {
        ...{ name: 'name', in: 'path', description: 'which', type: 'string' },
        ...{ required: true, unique_items: true },
      },
    },
  },
  {
    non_body_parameter: {
      query_parameter_sub_schema: {
        ...{ name: 'dryRun', in: 'query', description: 'try', type: 'string', unique_items: true },
      },
    },
  },
  { body_parameter: { name: 'body', in: 'body', required: true, schema: { _ref: '#/definitions/A' } } },
];
const schema = {
  type: 'object',
  description: 'Ä',
  required: ['a', 'b'],
  properties: {
    a: { type: 'string', enum: ['x', 'y'], default: 'x', pattern: '^.', minLength: 1, maxLength: 300 },
    b: { type: 'array', items: { $ref: '#/definitions/A' }, minItems: 1, maxItems: 2 },
    c: { type: 'object', additionalProperties: { type: 'number', minimum: -1.5, maximum: 3 } },
    d: { type: 'object', additionalProperties: true },
  },
  'x-kubernetes-list-map-keys': ['a'],
};
const decodedSchema = {
  type: { value: ['object'] },
  description: 'Ä',
  required: ['a', 'b'],
  properties: {
    additional_properties: [
      {
        name: 'a',
        value: {
          ...{ type: { value: ['string'] }, pattern: '^.', min_length: 1, max_length: 300 },
          ...{ enum: [{ yaml: '"x"' }, { yaml: '"y"' }], default: { yaml: '"x"' } },
        },
      },
      {
        name: 'b',
        value: {
          ...{ type: { value: ['array'] }, min_items: 1, max_items: 2 },
          items: { schema: [{ _ref: '#/definitions/A' }] },
        },
      },
      {
        name: 'c',
        value: {
          type: { value: ['object'] },
          additional_properties: { schema: { type: { value: ['number'] }, minimum: -1.5, maximum: 3 } },
        },
      },
      { name: 'd', value: { type: { value: ['object'] }, additional_properties: { boolean: true } } },
    ],
  },
  vendor_extension: [{ name: 'x-kubernetes-list-map-keys', value: { yaml: '["a"]' } }],
};

test('another decoder reads what was said', () => {
  const decoded = decode(
    encodeOpenApiV2({
      swagger: '2.0',
      info: { title: 'T', version: 'v' },
      paths: { '/a': { put: operation } },
      definitions: { A: schema },
      securityDefinitions: { Token: { type: 'apiKey', in: 'header', name: 'n', description: 'd' } },
      security: [{ Token: [] }],
    }),
  );
  const { tags, description, operationId, consumes, produces, schemes } = operation;
  const put = {
    ...{ tags, description, operation_id: operationId, consumes, produces, schemes },
    parameters: parameters.map((parameter) => ({ parameter })),
    responses: {
      response_code: [
        {
          name: '200',
          value: { response: { description: 'OK', schema: { schema: { type: { value: ['string'] } } } } },
        },
        { name: '401', value: { response: { description: 'No' } } },
      ],
    },
    vendor_extension: [
      {
        name: 'x-kubernetes-group-version-kind',
        value: { yaml: '{"group":"g","version":"v1","kind":"A"}' },
      },
    ],
  };
  assert.deepEqual(decoded, {
    swagger: '2.0',
    info: { title: 'T', version: 'v' },
    paths: { path: [{ name: '/a', value: { put } }] },
    definitions: { additional_properties: [{ name: 'A', value: decodedSchema }] },
    security_definitions: {
      additional_properties: [
        {
          name: 'Token',
          value: { api_key_security: { type: 'apiKey', in: 'header', name: 'n', description: 'd' } },
        },
      ],
    },
    security: [{ additional_properties: [{ name: 'Token', value: {} }] }],
  });
});

test('every definition can be written', () => {
  const definitions = loadDefinitions();
  const resources = Object.keys(definitions).map((definition, index): PublishedResource => ({
    ...{ group: 'all.example.com', version: 'v1', kind: `K${index}`, plural: `k${index}`, definition },
    ...{ namespaced: true, verbs: ['get'], returnsDeletedObject: false, status: false, scale: false },
    subresources: [],
  }));
  const source = createDocumentSource(definitions, resources, '');
  const { definitions: written } = decode(source.v2Protobuf()) as {
    readonly definitions: { readonly additional_properties: readonly { readonly name: string }[] };
  };
  const published = JSON.parse(source.v2().toString()) as { readonly definitions: object };
  assert.deepEqual(
    written.additional_properties.map(({ name }) => name),
    Object.keys(published.definitions),
  );
});

test('what has no field is refused', () => {
  assert.throws(() => encodeOpenApiV2({ definitions: { A: { oneOf: [] } } }), /no field for oneOf/);
  assert.throws(() => encodeOpenApiV2({ definitions: { A: { description: 1 } } }), /string is needed, not 1/);
  assert.throws(() => encodeOpenApiV2({ definitions: { A: { maxLength: -1 } } }), /count is needed, not -1/);
  assert.throws(
    () => encodeOpenApiV2({ paths: { '/': { get: { parameters: [{ in: 'header' }] } } } }),
    /in header/,
  );
});
