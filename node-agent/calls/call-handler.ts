/** From a request to the answer of its call, through a connection to the launcher that lives as long. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../controllers/runtime/clock.js';
import { LauncherClient } from '../launcher-client.js';
import { launcherRefusal, Refusal } from '../streams/refusal.js';
import { findInstance, parseRequest, type Instances } from '../streams/request.js';
import { actions, reads, type Call, type CallAnswer } from './calls.js';

/** Longer than the launcher gives a guest to flush its file systems. */
const callTimeoutMilliseconds = 70_000;

type Handler = (call: Call) => Promise<CallAnswer>;

function handlerFor(method: string | undefined, subject: string): Handler {
  const isAction = Object.hasOwn(actions, subject);
  const isRead = Object.hasOwn(reads, subject);
  if (!isAction && !isRead) throw new Refusal('NotFound', `there is no call ${subject}`);
  const allowed = isAction ? 'PUT' : 'GET';
  if (method !== allowed) throw new Refusal('MethodNotAllowed', `${subject} is called with ${allowed}`);
  // Asked for just above.
  return isAction ? actions[subject as keyof typeof actions] : reads[subject as keyof typeof reads];
}

/** Rejects with `Refusal`. */
export async function handleCall(
  { method, url }: IncomingMessage,
  instances: Instances,
  clock: Clock,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const request = parseRequest(url ?? '');
  const handler = handlerFor(method, request.subject);
  const { directory } = findInstance(request, instances);
  try {
    const options = { clock, timeoutMilliseconds: callTimeoutMilliseconds };
    const launcher = await LauncherClient.connect(directory.controlSocket, options, signal);
    try {
      return await handler({ launcher, query: request.query, signal });
    } finally {
      launcher.close();
    }
  } catch (error) {
    throw launcherRefusal(request.name, error);
  }
}

export function writeAnswer(response: ServerResponse, answer: CallAnswer): void {
  switch (answer.type) {
    case 'done':
      response.writeHead(204).end();
      return;
    case 'json':
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.value));
      return;
    case 'png':
      response.writeHead(200, { 'Content-Type': 'image/png' }).end(answer.image);
      return;
  }
}
