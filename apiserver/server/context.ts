/** The request as handlers see it. */
import type { Exchange } from '../http/exchange.js';
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
    this.headers = exchange.request.headers as Readonly<Record<string, string | undefined>>;
    this.body = exchange.body;
  }

  get signal(): AbortSignal {
    return this.#exchange.scope.signal;
  }

  warn(text: string): void {
    this.#exchange.warn(text);
  }

  nameObject(name: string): void {
    this.#exchange.objectName = name;
  }

  annotate(key: string, value: string): void {
    this.#exchange.annotate(key, value);
  }
}
