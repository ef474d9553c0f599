/** Addresses of the web, as Go reads the target of a request: `url("https://a.example:8443/x").getPort()`. */
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type Library } from './function.js';

interface Parts {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

class UrlValue extends Opaque {
  readonly type = 'kubernetes.URL';

  constructor(
    readonly text: string,
    private readonly parts: Parts,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }

  override call(name: string, values: readonly Value[]): Value | undefined {
    if (values.length > 0) return undefined;
    const { scheme, host, path, query } = this.parts;
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
        return escaped(path);
      case 'getQuery':
        return parametersOf(query);
      case 'string':
        return this.text;
      default:
        return undefined;
    }
  }
}

/** As it is written if nothing in it has to be escaped, else all of it anew. */
function escaped(path: string): string {
  if (/^(?:%[0-9a-fA-F]{2}|[-A-Za-z0-9._~!$&'()*+,;=:@/[\]])*$/.test(path)) return path;
  return encodeURI(decodeURIComponent(path))
    .replace(/[!'()*]/g, percent)
    .replace(/#/g, '%23')
    .replace(/\?/g, '%3F');
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

function parametersOf(query: string): ReadonlyMap<string, readonly string[]> {
  const parameters = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const [key, value] = [unescaped(pair.slice(0, equals)), unescaped(pair.slice(equals + 1))];
    if (key !== undefined && value !== undefined)
      parameters.set(key, [...(parameters.get(key) ?? []), value]);
  }
  return parameters;
}

/** Undefined: not as it should be, which leaves the pair out. */
function unescaped(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const bytes = text
    .replaceAll('+', ' ')
    .split(/%([0-9a-fA-F]{2})/)
    .map((part, index) => Buffer.from(part, index % 2 === 0 ? 'utf8' : 'hex'));
  return Buffer.concat(bytes).toString();
}

/** Absolute, or a path from the root. Throws what is wrong with it. */
function parse(text: string): Parts {
  const fault = (why: string): EvaluationError =>
    new EvaluationError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${why}`,
    );
  // eslint-disable-next-line no-control-regex -- these are what must not be there
  if (/[\x00-\x1f\x7f]/.test(text)) throw fault('net/url: invalid control character in URL');
  if (text === '') throw fault('empty url');
  if (text.startsWith(':')) throw fault('missing protocol scheme');
  const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][-+.a-zA-Z0-9]*):)?([^]*)$/.exec(text) ?? [];
  const [beforeFragment = ''] = rest.split('#');
  const end = beforeFragment.includes('?') ? beforeFragment.indexOf('?') : beforeFragment.length;
  const [target, query] = [beforeFragment.slice(0, end), beforeFragment.slice(end + 1)];
  if (!target.startsWith('/')) {
    if (scheme === '') throw fault('invalid URI for request');
    // A path that does not begin at the root says nothing that is asked for here.
    return { scheme: scheme.toLowerCase(), host: '', path: '', query };
  }
  const hasHost = target.startsWith('//') && (scheme !== '' || !target.startsWith('///'));
  const pathStart = hasHost ? (target + '/').indexOf('/', 2) : 0;
  const [authority, path] = [target.slice(2, pathStart), target.slice(pathStart)];
  const host = authority.replace(/^.*@/, '');
  const why = hostFault(host) ?? escapeFault(path);
  if (why !== undefined) throw fault(why);
  return { scheme: scheme.toLowerCase(), host, path, query };
}

function hostFault(host: string): string | undefined {
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : /:[^:]*$/.exec(host)?.[0];
  if (port !== undefined && !/^(?::\d*)?$/.test(port))
    return `invalid port ${JSON.stringify(port)} after host`;
  const wrong = /[ "<>\\^`{|}]/.exec(host)?.[0];
  const escape = /%(?!25)[0-7][0-9a-fA-F]/.exec(host)?.[0];
  if (escape !== undefined) return `invalid URL escape ${JSON.stringify(escape)}`;
  return wrong === undefined ? escapeFault(host) : `invalid character ${JSON.stringify(wrong)} in host name`;
}

function escapeFault(text: string): string | undefined {
  const wrong = /%(?![0-9a-fA-F]{2})[^]{0,2}/.exec(text)?.[0];
  return wrong === undefined ? undefined : `invalid URL escape ${JSON.stringify(wrong)}`;
}

export function isUrl(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}

export const urls: Library = {
  isURL: onText(isUrl),
  url: onText((text) => new UrlValue(text, parse(text))),
};
