/** The store that the flags name, encrypted if they say so. */
import type { Logger } from 'pino';
import { belongTogether } from '../../apiserver/pki/key-pair.js';
import { encryptedBackend } from '../../storage/encryption/backend.js';
import { parseEncryptionConfiguration } from '../../storage/encryption/configuration.js';
import { openEtcdBackend } from '../../storage/etcd/backend.js';
import type { EtcdTls } from '../../storage/etcd/connection.js';
import type { Backend } from '../../storage/interface.js';
import { openLevelBackend } from '../../storage/level/backend.js';
import { WatchedFiles } from '../certificates/watched-files.js';
import { LateBackend } from './late-backend.js';
import type { StoreOptions } from './store-options.js';

export interface OpenStore {
  readonly backend: Backend;
  /** Resolves once the backend can be used; rejects if it never can be, or is closed before. */
  readonly opened: Promise<void>;
  /** Closes the backend, and ends the watch of its files. */
  close(): Promise<void>;
}

/** @param waits for an etcd that can not be used yet, instead of rejecting */
export async function openStore(
  store: StoreOptions,
  logger: Logger,
  { waits = false }: { readonly waits?: boolean } = {},
): Promise<OpenStore> {
  /** What was opened, the last first. */
  const open: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const each of open.splice(0)) await each();
  };
  try {
    const { encryptionConfigFile } = store;
    const encryption =
      encryptionConfigFile === undefined
        ? undefined
        : await WatchedFiles.open({
            paths: [encryptionConfigFile],
            parse: (text = '') => parseEncryptionConfiguration(text),
            logger,
          });
    if (encryption !== undefined) open.unshift(() => encryption.close());
    const tls = await watchEtcdTls(store, logger);
    if (tls !== undefined) open.unshift(() => tls.close());
    const { backend: plain, opened } = await openBackend(store, tls, logger, waits);
    open.unshift(() => plain.close());
    const backend = encryption === undefined ? plain : encryptedBackend(plain, () => encryption.current);
    return { backend, opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openBackend(
  store: StoreOptions,
  tls: WatchedFiles<EtcdTls> | undefined,
  logger: Logger,
  waits: boolean,
): Promise<Omit<OpenStore, 'close'>> {
  const opened = Promise.resolve();
  // A directory can be used at once or never.
  if (store.kind === 'level')
    return { backend: await openLevelBackend({ directory: store.directory, logger }), opened };
  const { endpoints, prefix: root } = store;
  const options = { endpoints, root, logger, ...(tls === undefined ? {} : { tls }) };
  if (!waits) return { backend: await openEtcdBackend(options), opened };
  const backend = new LateBackend(() => openEtcdBackend(options), logger);
  return { backend, opened: backend.opened };
}

/** Undefined if there is no file to watch. */
async function watchEtcdTls(store: StoreOptions, logger: Logger): Promise<WatchedFiles<EtcdTls> | undefined> {
  if (store.kind !== 'etcd') return undefined;
  const { caFile, certFile, keyFile } = store;
  const paths = [caFile, certFile, keyFile].filter((file) => file !== undefined);
  if (paths.length === 0) return undefined;
  const parse = (...texts: string[]): EtcdTls => {
    const textOf = (file: string | undefined): string | undefined =>
      file === undefined ? undefined : texts[paths.indexOf(file)];
    const [ca, cert, key] = [textOf(caFile), textOf(certFile), textOf(keyFile)];
    if (cert !== undefined && key !== undefined && !belongTogether({ cert, key }))
      throw new Error(`${certFile ?? ''} and ${keyFile ?? ''} are no certificate and its key`);
    return {
      ...(ca === undefined ? {} : { ca: Buffer.from(ca) }),
      ...(cert === undefined ? {} : { cert: Buffer.from(cert) }),
      ...(key === undefined ? {} : { key: Buffer.from(key) }),
    };
  };
  return WatchedFiles.open({ paths, parse, logger });
}
