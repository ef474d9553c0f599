import type { Draft } from '../registry/metadata.js';
import { readDraft } from './body.js';
import { readWriteOptions } from './options.js';
import { writeContext, type ObjectHandler } from './request.js';
import { objectReply, representationOf } from './respond.js';

/** PUT of the object, or of its status. */
export const update: ObjectHandler = async (serving, request) => {
  const representation = representationOf(request, 'object');
  const options = readWriteOptions('UpdateOptions', request.context.query);
  let decoded: Draft | undefined = readDraft(request, options.fieldValidation);
  // Admission changes a draft in place, so that each further try needs a new one.
  const change = (): Draft => {
    const draft = decoded ?? readDraft(request, 'Ignore');
    decoded = undefined;
    return draft;
  };
  const updated = await serving.writes.update(writeContext(request, options), request.name, change, {
    requireRevision: true,
  });
  return objectReply(request, representation, 200, updated, serving.now());
};
