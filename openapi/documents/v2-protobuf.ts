/**
 * OpenAPI v2 as a `Document` of gnostic's package `openapi.v2`: kubectl asks for it in this form only. The messages here
 * are those that `openApiV2` needs; a member of the JSON document that has no field is an error.
 */
import {
  boolean,
  content,
  count,
  double,
  entries,
  list,
  message,
  text,
  wrapped,
  type Fields,
  type FieldWriter,
  type OtherWriter,
} from './protobuf-writer.js';

/** A value of any type, as YAML; every JSON is. */
const any: FieldWriter = wrapped(2, (number, value) => text(number, JSON.stringify(value)));

const namedAny = message({ name: [1, text], value: [2, any] });

/** Vendor extensions, in the field `number`. */
function extensions(number: number): OtherWriter {
  return (name, value) => (name.startsWith('x-') ? namedAny(number, { name, value }) : undefined);
}

/** For messages that hold themselves: the writer is only looked up when it is used. */
const nestedSchema: FieldWriter = (number, value) => schema(number, value);

const additionalProperties: FieldWriter = (number, value) =>
  (typeof value === 'boolean' ? wrapped(2, boolean) : wrapped(1, nestedSchema))(number, value);

const schema = message(
  {
    $ref: [1, text],
    format: [2, text],
    description: [4, text],
    default: [5, any],
    maximum: [7, double],
    minimum: [9, double],
    maxLength: [11, count],
    minLength: [12, count],
    pattern: [13, text],
    maxItems: [14, count],
    minItems: [15, count],
    required: [19, list(text)],
    enum: [20, list(any)],
    additionalProperties: [21, additionalProperties],
    type: [22, wrapped(1, text)],
    items: [23, wrapped(1, nestedSchema)],
    properties: [25, entries(1, nestedSchema)],
  },
  extensions(31),
);

const bodyParameter = message(
  {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, boolean],
    schema: [5, schema],
  },
  extensions(6),
);

const parameterFields: Fields = {
  required: [1, boolean],
  in: [2, text],
  description: [3, text],
  name: [4, text],
};
const queryParameter = message(
  { ...parameterFields, type: [6, text], uniqueItems: [20, boolean] },
  extensions(23),
);
const pathParameter = message(
  { ...parameterFields, type: [5, text], uniqueItems: [19, boolean] },
  extensions(22),
);

const parameters: Readonly<Record<string, FieldWriter>> = {
  body: wrapped(1, bodyParameter),
  query: wrapped(2, wrapped(3, queryParameter)),
  path: wrapped(2, wrapped(4, pathParameter)),
};

const parameter: FieldWriter = (number, value) => {
  const { in: place } = value as { readonly in?: string };
  const write = parameters[place ?? ''];
  if (write === undefined)
    throw new TypeError(`there is no message for a parameter in ${place ?? 'nothing'}`);
  return wrapped(1, write)(number, value);
};

const response = message({ description: [1, text], schema: [2, wrapped(1, schema)] }, extensions(5));

const operation = message(
  {
    tags: [1, list(text)],
    description: [3, text],
    operationId: [5, text],
    produces: [6, list(text)],
    consumes: [7, list(text)],
    parameters: [8, list(parameter)],
    responses: [9, entries(1, wrapped(1, response))],
    schemes: [10, list(text)],
  },
  extensions(13),
);

const pathItem = message(
  {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    patch: [8, operation],
  },
  extensions(10),
);

const apiKey = message(
  { type: [1, text], name: [2, text], in: [3, text], description: [4, text] },
  extensions(5),
);

const document: Fields = {
  swagger: [1, text],
  info: [2, message({ title: [1, text], version: [2, text] }, extensions(7))],
  paths: [8, entries(2, pathItem)],
  definitions: [9, entries(1, schema)],
  security: [12, list(entries(1, wrapped(1, list(text))))],
  securityDefinitions: [13, entries(1, wrapped(2, apiKey))],
};

/** `document` as `openApiV2` makes it. */
export function encodeOpenApiV2(value: unknown): Buffer {
  return content(value, document, extensions(16));
}
