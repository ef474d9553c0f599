/** `/openapi/v3` with one document a group-version at a URL that names its hash, and `/openapi/v2`. */
import type { DocumentSource } from '../../openapi/documents/source.js';
import { ApiError } from '../errors/api-error.js';
import { pathNotFound } from '../http/status-reply.js';
import type { Handler, Reply, RequestContext } from '../request.js';
import { document, hashOf, serveDocument, type Document } from './document.js';
import { withoutTrailingSlash } from './discovery.js';

interface Published {
  readonly document: Document;
  readonly hash: string;
}

const base = '/openapi/v3';
const jsonFormat = 'application/json';
/** What it is called; and what clients call it, which is no media type by the letter. */
const v2ProtobufFormats = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
] as const;
const yearSeconds = 365 * 24 * 60 * 60;

export class OpenApi {
  readonly #v3 = new Map<string, Published>();
  #index: Document | undefined;
  #v2: Document | undefined;
  #v2AsProtobuf: Document | undefined;

  constructor(
    private readonly source: DocumentSource,
    private readonly now: () => number,
  ) {}

  /** Makes every document, so that no request has to wait for one. */
  prepare(): void {
    this.#indexDocument();
    this.#v2Document();
  }

  readonly handle: Handler = (context) => Promise.resolve(this.#answer(context));

  #answer(context: RequestContext): Reply {
    const path = withoutTrailingSlash(context.info.path);
    if (path === '/openapi/v2') {
      const protobuf = acceptedFormat(context, [jsonFormat, ...v2ProtobufFormats]) !== jsonFormat;
      return serveDocument(context, protobuf ? this.#v2Protobuf() : this.#v2Document());
    }
    if (path === base) return serveDocument(context, this.#indexDocument());
    const name = path.slice(base.length + 1);
    if (!path.startsWith(`${base}/`) || !this.source.v3Paths.includes(name)) return pathNotFound();
    acceptedFormat(context, [jsonFormat]);
    return this.#groupVersion(context, name);
  }

  #groupVersion(context: RequestContext, name: string): Reply {
    const published = this.#published(name);
    const asked = context.query.get('hash');
    if (asked === null) return serveDocument(context, published.document);
    if (asked !== published.hash) {
      return {
        kind: 'bytes',
        status: 301,
        contentType: 'text/plain; charset=utf-8',
        chunks: [],
        headers: { Location: hashedUrl(name, published.hash) },
      };
    }
    return serveDocument(context, published.document, {
      'Cache-Control': 'public, immutable',
      Expires: new Date(this.now() + yearSeconds * 1000).toUTCString(),
    });
  }

  #published(name: string): Published {
    let published = this.#v3.get(name);
    if (published === undefined) {
      const bytes = this.source.v3(name);
      published = { document: document(bytes, jsonFormat), hash: hashOf(bytes) };
      this.#v3.set(name, published);
    }
    return published;
  }

  #indexDocument(): Document {
    if (this.#index === undefined) {
      const paths = Object.fromEntries(
        this.source.v3Paths.map((name) => [
          name,
          { serverRelativeURL: hashedUrl(name, this.#published(name).hash) },
        ]),
      );
      // kube-apiserver labels the index so, and clients read it as JSON all the same.
      this.#index = document(Buffer.from(JSON.stringify({ paths })), 'text/plain; charset=utf-8');
    }
    return this.#index;
  }

  #v2Document(): Document {
    this.#v2 ??= document(this.source.v2(), jsonFormat);
    return this.#v2;
  }

  /** Made when the first client asks: few do, and in a cluster kube-apiserver has one of its own. */
  #v2Protobuf(): Document {
    this.#v2AsProtobuf ??= document(this.source.v2Protobuf(), v2ProtobufFormats[0]);
    return this.#v2AsProtobuf;
  }
}

function hashedUrl(name: string, hash: string): string {
  return `${base}/${name}?hash=${hash}`;
}

/**
 * The first format of `offered` that the client names, in its order of preference; JSON for who takes anything. Throws 406
 * for who takes none of them.
 */
function acceptedFormat<T extends string>({ headers }: RequestContext, offered: readonly T[]): T {
  const [fallback] = offered;
  const accept = headers.accept === undefined || headers.accept === '' ? '*/*' : headers.accept;
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]?.trim() ?? '');
  for (const range of ranges) {
    const found =
      range === '*/*' || range === 'application/*' ? fallback : offered.find((it) => it === range);
    if (found !== undefined) return found;
  }
  throw new ApiError('NotAcceptable', `only the following media types are accepted: ${offered.join(', ')}`);
}
