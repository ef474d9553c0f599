/** Posts reviews to webhooks over HTTPS, on connections that are kept. */
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { ClientConfig } from './configuration.js';
import type { WebhookCaller } from './invocation.js';
import type { AdmissionReview } from './review.js';

export interface HttpsCallerOptions {
  readonly userAgent: string;
  /** How names of hosts become addresses; the system's way if absent. */
  readonly lookup?: LookupFunction;
}

/** Larger answers fail the call: a patch is part of an object of at most 3 MiB, in base64. */
const maximumAnswer = 8 * 1024 * 1024;
/** A connection that nobody has used for so long is closed. Milliseconds. */
const idleTime = 60_000;

export class HttpsWebhookCaller implements WebhookCaller {
  readonly #agent = new https.Agent({ keepAlive: true, maxFreeSockets: 8, timeout: idleTime });

  constructor(private readonly options: HttpsCallerOptions) {}

  async call(
    client: ClientConfig,
    review: AdmissionReview,
    timeoutSeconds: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const url = webhookUrl(client);
    url.searchParams.set('timeout', `${timeoutSeconds}s`);
    const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
    const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const body = Buffer.from(JSON.stringify(review));
    try {
      return await this.#post(url, client.caBundle, body, either);
    } catch (error) {
      const why = deadline.aborted
        ? `no answer within ${timeoutSeconds} s`
        : error instanceof Error
          ? error.message
          : String(error);
      throw new Error(`Post ${JSON.stringify(url.href)}: ${why}`, { cause: error });
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #post(url: URL, caBundle: string | undefined, body: Buffer, signal: AbortSignal): Promise<unknown> {
    const attempt = (): Promise<IncomingMessage> => this.#send(url, caBundle, body, signal);
    const response = await attempt().catch((error: unknown) => {
      // The webhook may close an idle connection just as we use it, and then has not read the review.
      if (error instanceof StaleConnection) return attempt();
      throw error;
    });
    const text = await readBounded(response);
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299)
      throw new Error(`the webhook answered ${statusCode}: ${text.slice(0, 200).trim()}`);
    return JSON.parse(text) as unknown;
  }

  #send(url: URL, caBundle: string | undefined, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> {
    const { lookup, userAgent } = this.options;
    return new Promise((resolve, reject) => {
      const request = https.request(
        url,
        {
          method: 'POST',
          agent: this.#agent,
          signal,
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            'content-length': body.length,
            'user-agent': userAgent,
          },
          // Connections are kept apart by these, too.
          ...(caBundle === undefined || caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') }),
          ...(lookup === undefined ? {} : { lookup }),
        },
        resolve,
      );
      request.once('error', (error) => {
        const code = 'code' in error ? error.code : undefined;
        const stale = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
        reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      request.end(body);
    });
  }
}

/** A kept connection that turned out to be closed. */
class StaleConnection extends Error {}

/** Services are reached by their names in the cluster's DNS, which their certificates bear. */
export function webhookUrl({ url, service }: ClientConfig): URL {
  if (url !== undefined) {
    const parsed = new URL(url);
    if (parsed.protocol !== 'https:') throw new Error(`the URL ${url} must begin with https`);
    return parsed;
  }
  if (service === undefined) throw new Error('clientConfig names neither a url nor a service');
  const { name, namespace, port = 443, path = '/' } = service;
  const base = new URL(`https://${name}.${namespace}.svc:${port}`);
  base.pathname = path;
  return base;
}

async function readBounded(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maximumAnswer) throw new Error(`the answer is longer than ${maximumAnswer} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
