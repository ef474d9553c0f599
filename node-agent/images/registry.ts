/** Pulls from a registry (OCI distribution API, Docker's registry v2). */
import { ImageError, isImageError } from './errors.js';
import { get, readBody, type HttpResponse } from './http.js';
import {
  acceptedManifestTypes,
  maximumManifestSize,
  sha256,
  type Descriptor,
  type ImageDocument,
  type ImageSource,
} from './manifest.js';
import type { RegistryReference } from './reference.js';
import { basicHeader, bearerHeader, parseChallenges, type RegistryCredentials } from './registry-auth.js';
import { backOff, defaultBackoff, parseRetryAfter, type Backoff } from './retry.js';

/** How to reach one registry, where that differs from https://<its name>. */
export interface RegistryConfiguration {
  /** Base URL to ask in its place: a mirror, or the API host of a registry whose name is only an alias. */
  readonly endpoint?: string;
  /** http in place of https. Registries on the loopback interface are always reached so unless `endpoint` says otherwise. */
  readonly plainHttp?: boolean;
  /** PEM certificates to trust beside the system's. */
  readonly ca?: string;
}

export interface RegistryOptions {
  readonly configuration?: RegistryConfiguration | undefined;
  readonly credentials?: RegistryCredentials | undefined;
  readonly backoff?: Backoff;
  readonly idleTimeoutMilliseconds?: number;
  readonly now: () => number;
}

function baseUrl(registry: string, configuration: RegistryConfiguration): URL {
  if (configuration.endpoint !== undefined) return new URL(configuration.endpoint);
  const host = registry.replace(/:\d+$/, '');
  const loopback = host === 'localhost' || host === '[::1]' || /^127\./.test(host);
  return new URL(`${configuration.plainHttp === true || loopback ? 'http' : 'https'}://${registry}`);
}

/** The registry's own words, if it has any: `{ errors: [{ code, message }] }`. */
async function problem(response: HttpResponse): Promise<string> {
  try {
    const value: unknown = JSON.parse((await readBody(response, 64 * 1024)).toString('utf8'));
    if (typeof value === 'object' && value !== null && 'errors' in value && Array.isArray(value.errors)) {
      const [first] = value.errors as unknown[];
      if (typeof first === 'object' && first !== null && 'message' in first)
        return `: ${String(first.message)}`;
    }
  } catch {
    // A body that is no such document says nothing; the status does.
  }
  return '';
}

export class RegistrySource implements ImageSource {
  readonly name: string;
  private readonly base: URL;
  private readonly configuration: RegistryConfiguration;
  private readonly backoff: Backoff;
  private readonly idleTimeoutMilliseconds: number;
  private authorization: string | undefined;

  constructor(
    private readonly reference: RegistryReference,
    private readonly options: RegistryOptions,
  ) {
    this.name = reference.text;
    this.configuration = options.configuration ?? {};
    this.base = baseUrl(reference.registry, this.configuration);
    this.backoff = options.backoff ?? defaultBackoff;
    this.idleTimeoutMilliseconds = options.idleTimeoutMilliseconds ?? 60_000;
  }

  async resolve(signal: AbortSignal): Promise<ImageDocument> {
    const { tag, digest } = this.reference;
    return this.manifest(digest ?? tag ?? 'latest', digest, signal);
  }

  async document(descriptor: Descriptor, signal: AbortSignal): Promise<ImageDocument> {
    return this.manifest(descriptor.digest, descriptor.digest, signal);
  }

  private async manifest(
    reference: string,
    digest: string | undefined,
    signal: AbortSignal,
  ): Promise<ImageDocument> {
    return this.retrying(signal, async () => {
      const response = await this.ask(`manifests/${reference}`, { Accept: acceptedManifestTypes }, signal);
      const bytes = await readBody(response, maximumManifestSize);
      const promised = response.headers['docker-content-digest'];
      const expected = digest ?? (typeof promised === 'string' ? promised : undefined);
      const actual = sha256(bytes);
      if (expected !== undefined && expected.startsWith('sha256:') && expected !== actual) {
        throw new ImageError(
          'DigestMismatch',
          `image "${this.name}": its manifest should be ${expected} and hashes to ${actual}`,
        );
      }
      return { bytes, mediaType: response.headers['content-type'] ?? '', digest: actual };
    });
  }

  /** Continues with a range request where a connection broke, so that a large layer survives a bad network. */
  async *blob(descriptor: Descriptor, signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    let received = 0;
    for (let attempt = 1; received < descriptor.size || attempt === 1; attempt++) {
      const before = received;
      try {
        const { response, skip } = await this.openBlob(descriptor, received, signal);
        let toSkip = skip;
        try {
          // A message without an encoding yields buffers.
          for await (const chunk of response.body as AsyncIterable<Buffer>) {
            const fresh = chunk.subarray(Math.min(toSkip, chunk.length));
            toSkip -= chunk.length - fresh.length;
            received += fresh.length;
            if (fresh.length > 0) yield fresh;
          }
        } finally {
          response.body.destroy();
        }
        if (received >= descriptor.size) return;
        throw new Error(`the connection ended after ${received} of ${descriptor.size} bytes`);
      } catch (error) {
        signal.throwIfAborted();
        if (isImageError(error)) throw error;
        // Progress starts the count again: only a blob that does not move is given up.
        if (received > before) attempt = 1;
        if (attempt >= this.backoff.attempts) throw this.unreachable(error);
        await backOff(this.backoff, attempt, undefined, signal);
      }
    }
  }

  private async openBlob(
    descriptor: Descriptor,
    offset: number,
    signal: AbortSignal,
  ): Promise<{ response: HttpResponse; skip: number }> {
    const headers: Record<string, string> = offset > 0 ? { Range: `bytes=${offset}-` } : {};
    const response = await this.retrying(signal, () =>
      this.ask(`blobs/${descriptor.digest}`, headers, signal),
    );
    if (response.status !== 206) return { response, skip: offset };
    const range = /^bytes (\d+)-/.exec(response.headers['content-range'] ?? '');
    if (range?.[1] !== undefined && Number(range[1]) === offset) return { response, skip: 0 };
    response.body.destroy();
    throw new ImageError(
      'Malformed',
      `image "${this.name}": the registry answers another range of ${descriptor.digest} than asked for`,
    );
  }

  /** Repeats what network faults, 429 and server errors stop. */
  private async retrying<T>(signal: AbortSignal, once: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once();
      } catch (error) {
        signal.throwIfAborted();
        const transient = error instanceof TransientError ? error : undefined;
        if (isImageError(error)) throw error;
        if (attempt >= this.backoff.attempts) throw transient?.final ?? this.unreachable(error);
        await backOff(this.backoff, attempt, transient?.retryAfter, signal);
      }
    }
  }

  private unreachable(error: unknown): ImageError {
    const what = error instanceof Error ? error.message : String(error);
    return new ImageError(
      'RegistryUnreachable',
      `image "${this.name}": registry ${this.base.host} cannot be reached: ${what}`,
      { cause: error },
    );
  }

  private async ask(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const url = new URL(`v2/${this.reference.repository}/${path}`, `${this.base.href.replace(/\/$/, '')}/`);
    for (let authenticated = false; ; authenticated = true) {
      const response = await get(url, {
        headers:
          this.authorization === undefined ? headers : { ...headers, Authorization: this.authorization },
        ca: this.configuration.ca,
        idleTimeoutMilliseconds: this.idleTimeoutMilliseconds,
        signal,
      });
      if (response.status === 200 || response.status === 206) return response;
      // Also when a token expires in the middle of a pull.
      if (response.status === 401 && !authenticated) {
        response.body.destroy();
        this.authorization = await this.authenticate(response, signal);
        continue;
      }
      throw await this.refusal(response, path);
    }
  }

  private async authenticate(response: HttpResponse, signal: AbortSignal): Promise<string> {
    const { credentials } = this.options;
    const challenges = parseChallenges(response.headers['www-authenticate'] ?? '');
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer !== undefined) {
      return bearerHeader({
        challenge: bearer,
        repository: this.reference.repository,
        image: this.name,
        credentials,
        ca: this.configuration.ca,
        plainHttp: this.base.protocol === 'http:',
        idleTimeoutMilliseconds: this.idleTimeoutMilliseconds,
        signal,
      });
    }
    if (challenges.some(({ scheme }) => scheme === 'basic') && credentials !== undefined) {
      return basicHeader(credentials);
    }
    throw this.unauthorized();
  }

  private unauthorized(): ImageError {
    const { credentials } = this.options;
    return new ImageError(
      'Unauthorized',
      credentials === undefined
        ? `image "${this.name}": registry ${this.base.host} wants credentials; name a secret of type ` +
            'kubernetes.io/dockerconfigjson in imagePullSecret'
        : `image "${this.name}": registry ${this.base.host} refuses user "${credentials.username}"`,
    );
  }

  private async refusal(response: HttpResponse, path: string): Promise<Error> {
    const { status } = response;
    const words = await problem(response);
    const at = `image "${this.name}": registry ${this.base.host}`;
    if (status === 401 || status === 403) return this.unauthorized();
    if (status === 404) {
      return new ImageError('ImageNotFound', `${at} has no ${path}${words}`);
    }
    if (status === 429) {
      const wait = parseRetryAfter(response.headers['retry-after'], this.options.now());
      return new TransientError(
        new ImageError('TooManyRequests', `${at} refuses more requests for now (429)${words}`),
        wait,
      );
    }
    if (status >= 500) {
      return new TransientError(
        new ImageError('RegistryUnreachable', `${at} answers ${status}${words}`),
        undefined,
      );
    }
    return new ImageError('Malformed', `${at} answers ${status} to ${path}${words}`);
  }
}

/** An answer that another try may better; `final` is what the user hears if none does. */
class TransientError extends Error {
  constructor(
    readonly final: ImageError,
    readonly retryAfter: number | undefined,
  ) {
    super(final.message);
  }
}
