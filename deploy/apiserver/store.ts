/** The store that the flags name, encrypted if they say so. */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { encryptedBackend } from '../../storage/encryption/backend.js';
import { parseEncryptionConfiguration } from '../../storage/encryption/configuration.js';
import { openEtcdBackend } from '../../storage/etcd/backend.js';
import type { Backend } from '../../storage/interface.js';
import { openLevelBackend } from '../../storage/level/backend.js';
import { WatchedFiles } from '../certificates/watched-files.js';
import type { StoreOptions } from './store-options.js';

export async function openStore(store: StoreOptions, logger: Logger): Promise<Backend> {
  const { encryptionConfigFile } = store;
  if (encryptionConfigFile === undefined) return openPlain(store, logger);
  const configuration = await WatchedFiles.open({
    paths: [encryptionConfigFile],
    parse: (text = '') => parseEncryptionConfiguration(text),
    logger,
  });
  try {
    const backend = encryptedBackend(await openPlain(store, logger), () => configuration.current);
    return {
      ...backend,
      async close() {
        await configuration.close();
        await backend.close();
      },
    };
  } catch (error) {
    await configuration.close();
    throw error;
  }
}

async function openPlain(store: StoreOptions, logger: Logger): Promise<Backend> {
  if (store.kind === 'level') return openLevelBackend({ directory: store.directory, logger });
  const { endpoints, prefix, caFile, certFile, keyFile } = store;
  const read = async (file: string | undefined): Promise<Buffer | undefined> =>
    file === undefined ? undefined : readFile(file);
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return openEtcdBackend({
    endpoints,
    root: prefix,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
    logger,
  });
}
