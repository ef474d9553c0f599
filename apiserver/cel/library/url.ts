/** Addresses of the web: `url("https://a.example:8443/x").getPort()`. */
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type Library } from './function.js';

class UrlValue extends Opaque {
  readonly type = 'kubernetes.URL';

  constructor(
    readonly text: string,
    private readonly url: URL,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }

  override call(name: string, values: readonly Value[]): Value | undefined {
    if (values.length > 0) return undefined;
    const { scheme, host, path } = this.#written();
    switch (name) {
      case 'getScheme':
        return scheme;
      case 'getHost':
        return host;
      case 'getHostname':
        return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
      case 'getPort':
        return /:(\d+)$/.exec(host)?.[1] ?? '';
      case 'getEscapedPath':
        return path;
      case 'getQuery':
        return new Map(
          [...new Set(this.url.searchParams.keys())].map((key) => [key, this.url.searchParams.getAll(key)]),
        );
      case 'string':
        return this.text;
      default:
        return undefined;
    }
  }

  /** As it was written: JavaScript drops a port that is the scheme's own, and adds a path. */
  #written(): { scheme: string; host: string; path: string } {
    const [, scheme = '', host = '', path = ''] =
      /^(?:([^:/?#]+):)?(?:\/\/(?:[^/?#@]*@)?([^/?#]*))?([^?#]*)/.exec(this.text) ?? [];
    return { scheme: scheme.toLowerCase(), host, path: this.url.pathname === '/' ? path : this.url.pathname };
  }
}

/** Absolute, or a path from the root. */
function parse(text: string): URL | undefined {
  if (!/^(?:[a-zA-Z][-+.a-zA-Z0-9]*:|\/)/.test(text) || /[\s\p{Cc}]/u.test(text)) return undefined;
  try {
    return new URL(text, 'relative://');
  } catch {
    // The constructor has no other way to say that it is none.
    return undefined;
  }
}

export const urls: Library = {
  isURL: onText((text) => parse(text) !== undefined),
  url: onText((text) => {
    const parsed = parse(text);
    if (parsed === undefined)
      throw new EvaluationError(`URL parse error during conversion from string: ${text}`);
    return new UrlValue(text, parsed);
  }),
};
