/** Registry credentials from imagePullSecrets (`kubernetes.io/dockerconfigjson` and the older `kubernetes.io/dockercfg`). */
import type { Secret } from '../../openapi/generated/types/core_v1.js';
import type { RegistryReference } from './reference.js';
import type { RegistryCredentials } from './registry-auth.js';

type Entries = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(encoded: string): unknown {
  try {
    return JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch {
    // The same as a secret without the key: other secrets may still hold the credentials.
    return undefined;
  }
}

function entriesOf(secret: Secret): Entries {
  const current = secret.data?.['.dockerconfigjson'];
  if (current !== undefined) {
    const value = parse(current);
    return isRecord(value) && isRecord(value['auths']) ? value['auths'] : {};
  }
  const old = secret.data?.['.dockercfg'];
  const value = old === undefined ? undefined : parse(old);
  return isRecord(value) ? value : {};
}

function credentialsOf(entry: unknown): RegistryCredentials | undefined {
  if (!isRecord(entry)) return undefined;
  const { auth, username, password } = entry;
  if (typeof username === 'string' && typeof password === 'string') return { username, password };
  if (typeof auth !== 'string') return undefined;
  const decoded = Buffer.from(auth, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** `https://registry.example/v1/` and `registry.example/team` → host and path. */
function splitKey(key: string): { host: string; path: string } {
  const bare = key.replace(/^https?:\/\//, '').replace(/\/+$/, '');
  const slash = bare.indexOf('/');
  const host = slash < 0 ? bare : bare.slice(0, slash);
  const path = slash < 0 ? '' : bare.slice(slash + 1);
  // Docker's own client writes the API version behind the host.
  return { host: host.toLowerCase(), path: /^v[12]$/.test(path) ? '' : path };
}

/** The credentials whose key fits the image best: the longest matching repository path, the first secret on a tie. */
export function findCredentials(
  secrets: readonly Secret[],
  reference: RegistryReference,
): RegistryCredentials | undefined {
  let best: { credentials: RegistryCredentials; length: number } | undefined;
  for (const secret of secrets) {
    for (const [key, entry] of Object.entries(entriesOf(secret))) {
      const { host, path } = splitKey(key);
      const fits =
        host === reference.registry.toLowerCase() &&
        (path === '' || reference.repository === path || reference.repository.startsWith(`${path}/`));
      const credentials = fits ? credentialsOf(entry) : undefined;
      if (credentials !== undefined && (best === undefined || path.length > best.length)) {
        best = { credentials, length: path.length };
      }
    }
  }
  return best?.credentials;
}
