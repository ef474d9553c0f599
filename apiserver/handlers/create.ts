import { readDraft } from './body.js';
import { readWriteOptions } from './options.js';
import { writeContext, type ResourceHandler } from './request.js';
import { objectReply, representationOf } from './respond.js';

export const create: ResourceHandler = async (serving, request) => {
  const representation = representationOf(request, 'object');
  const options = readWriteOptions('CreateOptions', request.context.query);
  const draft = readDraft(request, options.fieldValidation);
  const { name } = draft.metadata;
  if (name !== undefined) request.context.nameObject?.(name);
  const created = await serving.writes.create(writeContext(request, options), draft);
  return objectReply(request, representation, 201, created, serving.now());
};
