/** Sends recorded calls over TLS and reads their answers. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import type { Answer } from './compare.js';
import type { Call } from './golden.js';

export interface ServerAddress {
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface WatchCall extends Call {
  readonly events?: number;
  readonly maxMs?: number;
}

const defaultWatchMs = 1500;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function linesOf(text: string): unknown[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line));
}

function warningsOf({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'warning');
}

export class ConformanceClient {
  readonly #agent: Agent;

  constructor(private readonly server: ServerAddress) {
    this.#agent = new Agent({ keepAlive: true, ca: server.ca });
  }

  close(): void {
    this.#agent.destroy();
  }

  async call(call: Call): Promise<Answer> {
    const response = await this.#open(call);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return answer(response, parse(Buffer.concat(chunks).toString()), true);
  }

  /** Calls `during` once the answer has begun, then reads until it has the events, the time is over, or the server ends it. */
  async watch(call: WatchCall, during: () => Promise<void>): Promise<Answer> {
    const response = await this.#open(call);
    let text = '';
    let ended = false;
    const wanted = call.events ?? Infinity;
    const reading = (async (): Promise<void> => {
      for await (const chunk of response) {
        text += String(chunk);
        if (response.statusCode === 200 && linesOf(text).length >= wanted) return;
      }
      ended = true;
    })();
    await during();
    const timer = setTimeout(() => response.destroy(), call.maxMs ?? defaultWatchMs);
    // Cutting the answer off is one of the ways in which reading ends.
    await reading.catch(() => undefined);
    clearTimeout(timer);
    response.destroy();
    return answer(response, response.statusCode === 200 ? linesOf(text) : parse(text), ended);
  }

  async #open({ method = 'GET', path, headers, body }: Call): Promise<IncomingMessage> {
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = httpsRequest({
      host: '127.0.0.1',
      port: this.server.port,
      agent: this.#agent,
      method,
      path,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.server.token}`,
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
        ...headers,
      },
    });
    request.end(payload);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }
}

function answer(response: IncomingMessage, body: unknown, ended: boolean): Answer {
  const [contentType = ''] = (response.headers['content-type'] ?? '').split(';');
  return { status: response.statusCode ?? 0, contentType, warnings: warningsOf(response), body, ended };
}
