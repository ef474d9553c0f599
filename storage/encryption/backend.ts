/** A backend whose values are encrypted on their way in and decrypted on their way out. */
import { ConflictError, IncompatibleError } from '../errors.js';
import type { Backend, BackendEvent, BackendEvents, KeyValue } from '../interface.js';
import { encryptedPrefix, type Provider } from './aes-gcm.js';
import { ruleFor, type EncryptionConfiguration, type EncryptionRule } from './configuration.js';

/** The bytes are there, and none of our keys reads them. */
export class DecryptionError extends IncompatibleError {}

/** `configuration` is asked at each read and write, so that keys may be changed meanwhile. */
export function encryptedBackend(backend: Backend, configuration: () => EncryptionConfiguration): Backend {
  const cipher = new ValueCipher(configuration);
  return {
    currentRevision: (signal) => backend.currentRevision(signal),
    async get(key, options) {
      const { revision, kv } = await backend.get(key, options);
      return { revision, kv: kv && cipher.open(kv) };
    },
    async list(prefix, options) {
      const result = await backend.list(prefix, options);
      return { ...result, items: result.items.map((kv) => cipher.open(kv)) };
    },
    async write(write) {
      const { key, value } = write;
      try {
        return await backend.write({ ...write, value: value && cipher.seal(key, value) });
      } catch (error) {
        if (!(error instanceof ConflictError) || error.current === undefined) throw error;
        // A backend's conflicts carry what its key holds.
        throw new ConflictError(key, cipher.open(error.current as KeyValue));
      }
    },
    async *watch(prefix, after, signal, options) {
      const changes: AsyncIterable<BackendEvents> = backend.watch(prefix, after, signal, options);
      for await (const { revision, events } of changes)
        yield { revision, events: events.map((event) => openEvent(cipher, event)) };
    },
    ...(backend.requestProgress === undefined ? {} : { requestProgress: () => backend.requestProgress?.() }),
    compact: (revision) => backend.compact(revision),
    check: (signal) => backend.check(signal),
    close: () => backend.close(),
  };
}

function openEvent(cipher: ValueCipher, event: BackendEvent): BackendEvent {
  const { type, kv, previous } = event;
  // Who does not ask for what was there gets a deletion without a value.
  const isEmpty = type === 'delete' && kv.value.length === 0;
  return { ...event, kv: isEmpty ? kv : cipher.open(kv), previous: previous && cipher.open(previous) };
}

class ValueCipher {
  constructor(private readonly configuration: () => EncryptionConfiguration) {}

  seal(key: string, value: Buffer): Buffer {
    const writer = this.#rule(key)?.providers[0] ?? 'identity';
    return writer === 'identity' ? value : writer.encrypt(value, key);
  }

  open(kv: KeyValue): KeyValue {
    const value = this.#open(kv.key, kv.value);
    return value === kv.value ? kv : { ...kv, value };
  }

  #open(key: string, value: Buffer): Buffer {
    const providers = this.#rule(key)?.providers ?? ['identity'];
    if (!startsWith(value, encryptedPrefix)) {
      if (providers.includes('identity')) return value;
      throw new DecryptionError(`${key} is not encrypted, and no provider "identity" reads what is not`);
    }
    const candidates = providers.filter(
      (provider): provider is Provider => provider !== 'identity' && startsWith(value, provider.prefix),
    );
    let cause: unknown;
    for (const provider of candidates) {
      try {
        return provider.decrypt(value, key);
      } catch (error) {
        cause = error;
      }
    }
    const why =
      candidates.length === 0 ? 'there is no such key' : 'the key is another, or the value was changed';
    throw new DecryptionError(`${key} can not be decrypted: it begins with ${prefixOf(value)}, and ${why}`, {
      cause,
    });
  }

  #rule(key: string): EncryptionRule | undefined {
    const [, group = '', resource = ''] = key.split('/', 3);
    return ruleFor(this.configuration(), group, resource);
  }
}

function startsWith(value: Buffer, prefix: Buffer): boolean {
  return value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

/** `k8s:enc:<provider>:<version>:<key>:`, as far as it is there. */
function prefixOf(value: Buffer): string {
  const parts = value.subarray(0, 256).toString('latin1').split(':');
  return `"${parts.slice(0, 5).join(':')}:"`;
}
