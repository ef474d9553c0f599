/** OpenAPI v3: one document a group-version. */
import { operationsOf, resourceListOperation, type Operation } from './operations.js';
import type { Parameter } from './parameters.js';
import type { PublishedResource } from './published-resource.js';
import { reference, v3Style, type Json, type SchemaWriter } from './schemas.js';

/** `schemas` writes in `v3Style`; `resources` are all those of one group-version. */
export function openApiV3(
  schemas: SchemaWriter,
  group: string,
  version: string,
  resources: readonly PublishedResource[],
  serverVersion: string,
): Json {
  const operations = [resourceListOperation(group, version), ...resources.flatMap(operationsOf)];
  return {
    openapi: '3.0.0',
    info: { title: 'Nativirt', version: serverVersion },
    paths: pathsOf(operations),
    components: {
      schemas: schemas.schemasFor(resources, operations),
      securitySchemes: {
        BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'Bearer token' },
      },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathsOf(operations: readonly Operation[]): Json {
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? {};
    paths[operation.path] = { ...item, [operation.method]: operationObject(operation) };
  }
  return paths;
}

function operationObject(operation: Operation): Json {
  const { id, tag, description, action, kind, parameters, body, responses } = operation;
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : { requestBody: { content: content(body.mediaTypes, body.definition), required: body.required } }),
    responses: {
      ...Object.fromEntries(
        responses.map((response) => [
          String(response.code),
          { description: response.description, content: content(response.mediaTypes, response.definition) },
        ]),
      ),
      '401': { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kind }),
  };
}

function content(mediaTypes: readonly string[], definition: string | undefined): Json {
  const schema = definition === undefined ? { type: 'string' } : reference(definition, v3Style);
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

function parameterObject({ in: place, name, type, description }: Parameter): Json {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, ...(place === 'query' ? { uniqueItems: true } : {}) },
  };
}
