import { ApiError } from '../errors/api-error.js';
import type { Entry } from '../../storage/interface.js';
import type { DeleteOptions } from '../registry/delete.js';
import { readDeleteOptions } from './delete-options.js';
import { listReply, readPage } from './list.js';
import { writeContext, type ResourceHandler, type ResourceRequest, type Serving } from './request.js';
import { representationOf } from './respond.js';

/** So many at a time: enough that the store can commit them together. */
const concurrency = 32;

async function removeOne(
  serving: Serving,
  request: ResourceRequest,
  { attributes: { name, namespace } }: Entry,
  options: DeleteOptions,
  dryRun: boolean,
): Promise<void> {
  const context = writeContext({ ...request, namespace }, { dryRun, fieldManager: undefined });
  try {
    await serving.remove(context, name, options);
  } catch (error) {
    // Somebody else has deleted it since.
    if (!(error instanceof ApiError && error.reason === 'NotFound')) throw error;
  }
}

/** Answers with the objects as they were found. */
export const removeCollection: ResourceHandler = async (serving, request) => {
  const representation = representationOf(request, 'list');
  const { options, dryRun } = readDeleteOptions(request.context);
  const page = await readPage(request);
  const waiting = page.entries[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const entry of waiting) await removeOne(serving, request, entry, options, dryRun);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, page.entries.length) }, worker));
  return listReply(request, representation, page, serving.now());
};
