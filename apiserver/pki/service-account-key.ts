/** The key that signs tokens of service accounts: made once, so that tokens outlive the process. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { readIfExists, writeSecretFile } from './files.js';

/** Reads `service-account.key` (P-256, PKCS #8 in PEM) in `directory`, or makes it. */
export async function ensureServiceAccountKey(directory: string): Promise<KeyObject> {
  const file = join(directory, 'service-account.key');
  const known = await readIfExists(file);
  if (known !== undefined) return createPrivateKey(known);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeSecretFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return privateKey;
}
