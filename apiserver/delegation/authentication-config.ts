/** What kube-apiserver tells aggregated servers in the config map `extension-apiserver-authentication`. */
import type { RequestHeaderConfiguration } from '../authn/request-header.js';

export const authenticationConfigMap = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
} as const;

export interface DelegatedAuthentication {
  /** PEM bundle: who issues users' client certificates. Absent where the cluster knows none. */
  readonly clientCa: string | undefined;
  /** Absent where kube-apiserver is no front proxy. */
  readonly requestHeader: RequestHeaderConfiguration | undefined;
}

/** @throws an Error that names the key whose value can not be read */
export function parseAuthenticationConfig(data: Readonly<Record<string, string>>): DelegatedAuthentication {
  const proxyCa = nonEmpty(data['requestheader-client-ca-file']);
  return {
    clientCa: nonEmpty(data['client-ca-file']),
    requestHeader:
      proxyCa === undefined
        ? undefined
        : {
            clientCa: proxyCa,
            allowedNames: strings(data, 'requestheader-allowed-names'),
            usernameHeaders: headers(data, 'requestheader-username-headers'),
            uidHeaders: headers(data, 'requestheader-uid-headers'),
            groupHeaders: headers(data, 'requestheader-group-headers'),
            extraHeaderPrefixes: headers(data, 'requestheader-extra-headers-prefix'),
          },
  };
}

const nonEmpty = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text;

const headers = (data: Readonly<Record<string, string>>, key: string): readonly string[] =>
  strings(data, key).map((name) => name.toLowerCase());

/** Lists are JSON in the map's strings. */
function strings(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  const text = nonEmpty(data[key]);
  if (text === undefined) return [];
  const value = parsed(text);
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string')) return value;
  throw new Error(`${key} must be a JSON list of strings, not ${text.slice(0, 100)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
