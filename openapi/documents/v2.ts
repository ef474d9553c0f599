/** OpenAPI v2: one document of everything, for aggregators and older clients. */
import { operationsOf, resourceListOperation, type Operation } from './operations.js';
import type { Parameter } from './parameters.js';
import { groupVersionPath, type PublishedResource } from './published-resource.js';
import { reference, v2Style, type Json, type SchemaWriter } from './schemas.js';

/** `schemas` writes in `v2Style`. */
export function openApiV2(
  schemas: SchemaWriter,
  resources: readonly PublishedResource[],
  serverVersion: string,
): Json {
  const versions = new Map(
    resources.map(({ group, version }) => [groupVersionPath(group, version), { group, version }]),
  );
  const operations = [
    ...[...versions.values()].map(({ group, version }) => resourceListOperation(group, version)),
    ...resources.flatMap(operationsOf),
  ];
  return {
    swagger: '2.0',
    info: { title: 'Nativirt', version: serverVersion },
    paths: pathsOf(operations),
    definitions: schemas.schemasFor(resources, operations),
    securityDefinitions: {
      BearerToken: { type: 'apiKey', in: 'header', name: 'authorization', description: 'Bearer token' },
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
  const bodyParameters =
    body === undefined
      ? []
      : [{ name: 'body', in: 'body', required: body.required, schema: reference(body.definition, v2Style) }];
  return {
    tags: [tag],
    description,
    operationId: id,
    consumes: body === undefined ? ['*/*'] : body.mediaTypes,
    produces: [...new Set(responses.flatMap((response) => response.mediaTypes))],
    schemes: ['https'],
    parameters: [...parameters.map(parameterObject), ...bodyParameters],
    responses: {
      ...Object.fromEntries(
        responses.map(({ code, description: text, definition }) => [
          String(code),
          {
            description: text,
            schema: definition === undefined ? { type: 'string' } : reference(definition, v2Style),
          },
        ]),
      ),
      '401': { description: 'Unauthorized' },
    },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind === undefined ? {} : { 'x-kubernetes-group-version-kind': kind }),
  };
}

function parameterObject({ in: place, name, type, description }: Parameter): Json {
  return {
    name,
    in: place,
    description,
    type,
    ...(place === 'path' ? { required: true } : {}),
    uniqueItems: true,
  };
}
