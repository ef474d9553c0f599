/** A registry in this process, with faults to order. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestImage } from './images.js';
import { digestOf } from './images.js';

export interface Faults {
  /** Blob answers end after so many bytes, the first `count` times. */
  truncate?: { bytes: number; count: number };
  /** Blobs are served with one byte changed. */
  corrupt?: boolean;
  /** Answers with this status, the first `count` times. */
  refuse?: { status: number; count: number; headers?: Record<string, string> };
  /** Blobs are answered with a redirect to this base URL. */
  redirect?: string;
  /** Range headers are ignored. */
  withoutRanges?: boolean;
  /** Blobs are answered only when this resolves. */
  hold?: Promise<void>;
}

export type Protection =
  | { readonly scheme: 'none' }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly scheme: 'bearer';
      /** Absent: anonymous tokens. */
      readonly username?: string;
      readonly password?: string;
    };

const token = 'granted';

export class TestRegistry {
  readonly requests: string[] = [];
  readonly blobRanges: (string | undefined)[] = [];
  readonly blobAuthorizations: (string | undefined)[] = [];
  faults: Faults = {};
  protection: Protection = { scheme: 'none' };
  private readonly manifests = new Map<string, { bytes: Buffer; mediaType: string }>();
  private readonly blobs = new Map<string, Buffer>();

  private constructor(private readonly server: Server) {}

  static async start(tls?: { cert: string; key: string }): Promise<TestRegistry> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const registry = new TestRegistry(server);
    server.on('request', (request, response) => {
      registry.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  get port(): number {
    // Listening on TCP.
    return (this.server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  addManifest(repository: string, tag: string, bytes: Buffer, mediaType: string): void {
    for (const name of [tag, digestOf(bytes)])
      this.manifests.set(`${repository}/${name}`, { bytes, mediaType });
  }

  /** Serves these bytes under a digest that is not theirs. */
  serveAs(repository: string, digest: string, bytes: Buffer): void {
    this.manifests.set(`${repository}/${digest}`, {
      bytes,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
    });
  }

  addImage(repository: string, tag: string, image: TestImage): void {
    this.addManifest(repository, tag, image.manifest, image.manifestDescriptor.mediaType);
    for (const [digest, blob] of image.blobs) this.blobs.set(digest, blob);
  }

  private isAllowed(request: IncomingMessage): boolean {
    const { authorization } = request.headers;
    const { protection } = this;
    if (protection.scheme === 'none') return true;
    if (protection.scheme === 'bearer') return authorization === `Bearer ${token}`;
    return authorization === basic(protection.username, protection.password);
  }

  private challenge(): string {
    if (this.protection.scheme === 'basic') return 'Basic realm="test"';
    return `Bearer realm="http://${this.host}/token",service="test",scope="repository:any:pull"`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://registry');
    this.requests.push(url.pathname);
    if (url.pathname === '/token') {
      this.answerToken(request, response);
      return;
    }
    const { refuse } = this.faults;
    if (refuse !== undefined && refuse.count > 0) {
      refuse.count--;
      response.writeHead(refuse.status, refuse.headers).end();
      return;
    }
    if (!this.isAllowed(request)) {
      response.writeHead(401, { 'WWW-Authenticate': this.challenge() }).end();
      return;
    }
    const [, repository = '', what, reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname) ?? [];
    if (what === 'manifests') this.answerManifest(response, `${repository}/${reference}`);
    else await this.answerBlob(request, response, reference);
  }

  private answerToken(request: IncomingMessage, response: ServerResponse): void {
    const { protection } = this;
    const open = protection.scheme !== 'bearer' || protection.username === undefined;
    const fits =
      protection.scheme === 'bearer' &&
      request.headers.authorization === basic(protection.username ?? '', protection.password ?? '');
    if (open || fits) response.end(JSON.stringify({ token }));
    else response.writeHead(401).end();
  }

  private answerManifest(response: ServerResponse, name: string): void {
    const manifest = this.manifests.get(name);
    if (manifest === undefined) {
      const errors = [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }];
      response.writeHead(404).end(JSON.stringify({ errors }));
      return;
    }
    response
      .writeHead(200, {
        'Content-Type': manifest.mediaType,
        'Docker-Content-Digest': digestOf(manifest.bytes),
      })
      .end(manifest.bytes);
  }

  private async answerBlob(
    request: IncomingMessage,
    response: ServerResponse,
    digest: string,
  ): Promise<void> {
    const blob = this.blobs.get(digest);
    if (blob === undefined) {
      response.writeHead(404).end();
      return;
    }
    await this.faults.hold;
    this.blobAuthorizations.push(request.headers.authorization);
    if (this.faults.redirect !== undefined) {
      response.writeHead(307, { Location: `${this.faults.redirect}${request.url ?? ''}` }).end();
      return;
    }
    this.blobRanges.push(request.headers.range);
    const start =
      this.faults.withoutRanges === true ? 0 : Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0);
    const body = Buffer.from(blob.subarray(start));
    if (this.faults.corrupt === true)
      body.writeUInt8(body.readUInt8(body.length - 1) ^ 0xff, body.length - 1);
    const range = `bytes ${start}-${blob.length - 1}/${blob.length}`;
    response.writeHead(start > 0 ? 206 : 200, {
      'Content-Length': body.length,
      ...(start > 0 ? { 'Content-Range': range } : {}),
    });
    const { truncate } = this.faults;
    if (truncate !== undefined && truncate.count > 0) {
      truncate.count--;
      response.write(body.subarray(0, truncate.bytes), () => response.destroy());
      return;
    }
    response.end(body);
  }
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
