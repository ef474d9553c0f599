/** One HTTP GET for the registry client: redirects, an idle timeout, and headers that never leak to another host. */
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be read to its end or destroyed. */
  readonly body: IncomingMessage;
}

export interface HttpOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM certificates to trust beside the system's. */
  readonly ca?: string | undefined;
  readonly idleTimeoutMilliseconds: number;
  readonly signal: AbortSignal;
}

const maximumRedirects = 5;

function send(url: URL, options: HttpOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = request(url, {
      method: 'GET',
      headers: { 'User-Agent': 'nativirt', ...options.headers },
      signal: options.signal,
      ...(options.ca === undefined ? {} : { ca: [...rootCertificates, options.ca] }),
    });
    // The socket's timer also covers the time in which a body stalls.
    outgoing.setTimeout(options.idleTimeoutMilliseconds, () => {
      outgoing.destroy(new Error(`no data for ${options.idleTimeoutMilliseconds / 1000} s`));
    });
    outgoing.on('error', reject);
    outgoing.on('response', (body) => {
      resolve({ status: body.statusCode ?? 0, headers: body.headers, body });
    });
    outgoing.end();
  });
}

/** Follows redirects. `Authorization` is sent to the first host only: blob stores must not see the registry's token. */
export async function get(start: URL, options: HttpOptions): Promise<HttpResponse> {
  let url = start;
  let { headers = {} } = options;
  for (let count = 0; ; count++) {
    const response = await send(url, { ...options, headers });
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || location === undefined) return response;
    response.body.destroy();
    if (count === maximumRedirects)
      throw new Error(`${start.host} redirects more than ${maximumRedirects} times`);
    const next = new URL(location, url);
    if (next.protocol !== 'https:' && next.protocol !== url.protocol) {
      throw new Error(`${start.host} redirects from ${url.protocol} to ${next.protocol}`);
    }
    if (next.host !== url.host) {
      headers = Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'),
      );
    }
    url = next;
  }
}

/** Reads a small body; throws if it is longer than `limit` bytes. */
export async function readBody(response: HttpResponse, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A message without an encoding yields buffers.
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      response.body.destroy();
      throw new Error(`the answer is longer than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
