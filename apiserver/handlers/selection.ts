/** `labelSelector` and `fieldSelector` of a list, watch or deletecollection, over what the store keeps beside the bytes. */
import { parseFieldSelector, parseLabelSelector, SelectorError } from '../../openapi/selectors.js';
import type { Attributes, Selection } from '../../storage/interface.js';
import { badRequest } from '../errors/api-error.js';
import type { ResourceRequest } from './request.js';

export interface Selected {
  /** Undefined: everything. */
  readonly matches: Selection | undefined;
  /** The only name that can match, if the field selector names one. */
  readonly name: string | undefined;
  /** The only namespace that can match. */
  readonly namespace: string | undefined;
}

function parsed<T>(parse: (text: string) => T, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

function fieldValue(attributes: Attributes, field: string): string {
  if (field === 'metadata.name') return attributes.name;
  if (field === 'metadata.namespace') return attributes.namespace ?? '';
  return attributes.fields[field] ?? '';
}

/** A watch of one object may name it in its path: `/watch/…/name`. */
function fieldSelectorOf({ info, query }: ResourceRequest['context']): string {
  const selector = query.get('fieldSelector') ?? '';
  if (info.verb !== 'watch' || info.name === undefined) return selector;
  const named = `metadata.name=${info.name.replace(/[\\,=]/g, '\\$&')}`;
  return selector === '' ? named : `${selector},${named}`;
}

export function readSelection({ context, endpoint, namespace }: ResourceRequest): Selected {
  const labels = parsed(parseLabelSelector, context.query.get('labelSelector') ?? '');
  const fields = parsed(parseFieldSelector, fieldSelectorOf(context));
  for (const { field } of fields.requirements) {
    const known =
      field === 'metadata.name' ||
      field === 'metadata.namespace' ||
      Object.hasOwn(endpoint.resource.selectableFields, field);
    if (!known) throw badRequest(`field label not supported: ${field}`);
  }
  const matches: Selection = (attributes) =>
    labels.matches(attributes.labels) && fields.matches((field) => fieldValue(attributes, field));
  return {
    matches: labels.everything && fields.everything ? undefined : matches,
    name: fields.exactValue('metadata.name'),
    namespace: namespace ?? fields.exactValue('metadata.namespace'),
  };
}
