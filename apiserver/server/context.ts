/** The request as handlers see it. */
import { jsonType } from '../codec/media-types.js';
import type { Exchange } from '../http/exchange.js';
import { protobufToJson, protobufType } from '../http/protobuf/transcode.js';
import type { RequestContext, RequestInfo, UserInfo } from '../request.js';

export class ServerRequestContext implements RequestContext {
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly #exchange: Exchange;

  constructor(
    exchange: Exchange,
    readonly info: RequestInfo,
    readonly user: UserInfo,
  ) {
    this.#exchange = exchange;
    this.query = exchange.query;
    // node's type allows lists, but the only request header it keeps as one (set-cookie) means nothing here.
    const headers = exchange.request.headers as Readonly<Record<string, string | undefined>>;
    const json = transcoded(exchange.body, headers['content-type']);
    this.headers = json === undefined ? headers : { ...headers, 'content-type': jsonType };
    this.body = json ?? exchange.body;
  }

  get signal(): AbortSignal {
    return this.#exchange.scope.signal;
  }

  warn(text: string): void {
    this.#exchange.warn(text);
  }
}

/** A body in protobuf as JSON, so that no handler needs to know both; undefined if it is none, or of an unknown kind. */
function transcoded(body: Buffer, contentTypeHeader: string | undefined): Buffer | undefined {
  if (body.length === 0 || contentTypeHeader?.startsWith(protobufType) !== true) return undefined;
  return protobufToJson(body);
}
