import { isIP } from 'node:net';
import { readFileSync } from 'node:fs';

export interface NameService {
  readonly servers: readonly string[];
  readonly searchDomains: readonly string[];
}

const maximumSearchDomains = 32;

/** @param text of a resolv.conf. Servers of the loopback interface are the pod's alone: the guest can not reach them. */
export function parseResolvConf(text: string): NameService {
  const servers: string[] = [];
  let searchDomains: string[] = [];
  for (const line of text.split('\n')) {
    const [word, ...values] = line.trim().split(/\s+/);
    const [first = ''] = values;
    if (word === 'nameserver' && isIP(first) !== 0 && !/^(127\.|::1$)/.test(first)) servers.push(first);
    if (word === 'search' || word === 'domain') searchDomains = values.slice(0, maximumSearchDomains);
  }
  return { servers, searchDomains: searchDomains.filter((domain) => domain !== '.') };
}

/** What the pod itself asks; nothing where it asks nobody. */
export function podNameService(path = '/etc/resolv.conf'): NameService {
  try {
    return parseResolvConf(readFileSync(path, 'utf8'));
  } catch {
    // A pod without the file has no name service.
    return { servers: [], searchDomains: [] };
  }
}

/** Domain names in the wire format of DNS, one after another, not compressed. */
export function encodeDomains(domains: readonly string[]): Buffer {
  return Buffer.concat(
    domains.flatMap((domain) => [
      ...domain
        .replace(/\.$/, '')
        .split('.')
        .filter((label) => label.length > 0 && label.length < 64)
        .map((label) => Buffer.concat([Buffer.from([Buffer.byteLength(label)]), Buffer.from(label)])),
      Buffer.from([0]),
    ]),
  );
}
