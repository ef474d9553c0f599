import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { writeCertificates } from '../testing/certificates.js';
import { etcdMissing, startEtcd } from '../testing/etcd-server.js';
import { makeDirectory, silent } from '../testing/level-directory.js';
import { openEtcdBackend } from './backend.js';
import type { EtcdTls } from './connection.js';

const missing = etcdMissing();

test('a renewed certificate counts from the next connection on', { skip: missing ?? false }, async (t) => {
  const files = await writeCertificates(await makeDirectory(t));
  const strangers = await writeCertificates(await makeDirectory(t));
  const read = async ({ ca, cert, key }: typeof files): Promise<EtcdTls> => ({
    ca: await readFile(ca),
    cert: await readFile(cert),
    key: await readFile(key),
  });
  const listeners: (() => void)[] = [];
  let current = await read(strangers);
  const tls = {
    get current() {
      return current;
    },
    onChange: (listener: () => void) => void listeners.push(listener),
  };
  const cluster = await startEtcd({ tls: files });
  t.after(() => cluster.stop());
  const endpoints = cluster.members.map(({ endpoint }) => endpoint);
  const options = { endpoints, root: '/renewed', logger: silent, tls };
  await assert.rejects(openEtcdBackend(options));
  current = await read(files);
  for (const listener of listeners) listener();
  const backend = await openEtcdBackend(options);
  t.after(() => backend.close());
  const { revision } = await backend.write({ key: '/a/b/c', expect: 0, value: Buffer.from('x') });
  // Connections that are open go on with what they were made with.
  current = await read(strangers);
  for (const listener of listeners) listener();
  assert.equal((await backend.get('/a/b/c')).kv?.modRevision, revision);
});
