import { readDeleteOptions } from './delete-options.js';
import { writeContext, type ObjectHandler } from './request.js';
import { objectReply, representationOf, successReply } from './respond.js';

export const remove: ObjectHandler = async (serving, request) => {
  const representation = representationOf(request, 'object');
  const { options, dryRun } = readDeleteOptions(request.context);
  const context = writeContext(request, { dryRun, fieldManager: undefined });
  const { outcome, object } = await serving.remove(context, request.name, options);
  const { group, plural, strategy } = request.endpoint.resource;
  if (outcome === 'pending' || strategy.returnsDeletedObject === true)
    return objectReply(request, representation, 200, object, serving.now());
  return successReply(representation, 200, {
    name: request.name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: object.attributes.uid,
  });
};
