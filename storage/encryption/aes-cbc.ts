/**
 * AES-CBC as kube-apiserver writes it: `k8s:enc:aescbc:v1:<key's name>:`, 16 bytes to begin with, the text. Nothing tells whether it
 * was changed on the way: it is for data that another store has brought along, and `aesgcm` is better for all else.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Provider } from './aes-gcm.js';

const blockLength = 16;

/** @param key 16, 24 or 32 bytes */
export function aesCbc(name: string, key: Buffer): Provider {
  const algorithm = `aes-${key.length * 8}-cbc`;
  const prefix = Buffer.from(`k8s:enc:aescbc:v1:${name}:`);
  return {
    prefix,
    encrypt(value) {
      const start = randomBytes(blockLength);
      const cipher = createCipheriv(algorithm, key, start);
      return Buffer.concat([prefix, start, cipher.update(value), cipher.final()]);
    },
    decrypt(value) {
      const body = value.subarray(prefix.length);
      if (body.length < 2 * blockLength) throw new RangeError('the value is cut short');
      const decipher = createDecipheriv(algorithm, key, body.subarray(0, blockLength));
      return Buffer.concat([decipher.update(body.subarray(blockLength)), decipher.final()]);
    },
  };
}
