/** AES-GCM as kube-apiserver writes it: `k8s:enc:aesgcm:v1:<key's name>:`, 12 bytes of nonce, the text, 16 bytes of tag. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** All encrypted values begin with it, whoever wrote them. */
export const encryptedPrefix = Buffer.from('k8s:enc:');
const nonceLength = 12;
const tagLength = 16;

export interface Provider {
  /** What its values begin with. */
  readonly prefix: Buffer;
  /** @param context where the value lives: it can not be read anywhere else */
  encrypt(value: Buffer, context: string): Buffer;
  /** Throws if the value is not of this key, of this place, or has been changed. */
  decrypt(value: Buffer, context: string): Buffer;
}

/** @param key 16, 24 or 32 bytes */
export function aesGcm(name: string, key: Buffer): Provider {
  const algorithm = `aes-${key.length * 8}-gcm` as 'aes-256-gcm';
  const prefix = Buffer.from(`k8s:enc:aesgcm:v1:${name}:`);
  return {
    prefix,
    encrypt(value, context) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
      const text = [cipher.update(value), cipher.final()];
      return Buffer.concat([prefix, nonce, ...text, cipher.getAuthTag()]);
    },
    decrypt(value, context) {
      const body = value.subarray(prefix.length);
      if (body.length < nonceLength + tagLength) throw new RangeError('the value is cut short');
      const decipher = createDecipheriv(algorithm, key, body.subarray(0, nonceLength))
        .setAAD(Buffer.from(context))
        .setAuthTag(body.subarray(-tagLength));
      return Buffer.concat([decipher.update(body.subarray(nonceLength, -tagLength)), decipher.final()]);
    },
  };
}
