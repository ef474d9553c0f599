import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import forge from 'node-forge';

export interface CertificateFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Writes an authority, and a certificate of it for 127.0.0.1 that serves both sides of a connection. */
export async function writeCertificates(directory: string): Promise<CertificateFiles> {
  const authority = makeKeys();
  const subject = [{ name: 'commonName', value: 'test authority' }];
  const ca = makeCertificate(authority.publicKey, subject, subject, authority.privateKey, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  const leaf = makeKeys();
  const cert = makeCertificate(
    leaf.publicKey,
    [{ name: 'commonName', value: 'etcd' }],
    subject,
    authority.privateKey,
    [
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  );
  const files = {
    ca: join(directory, 'ca.pem'),
    cert: join(directory, 'cert.pem'),
    key: join(directory, 'key.pem'),
  };
  await writeFile(files.ca, ca);
  await writeFile(files.cert, cert);
  await writeFile(files.key, forge.pki.privateKeyToPem(leaf.privateKey));
  return files;
}

/** Node makes keys much faster than forge does. */
function makeKeys(): { publicKey: forge.pki.rsa.PublicKey; privateKey: forge.pki.rsa.PrivateKey } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  return {
    publicKey: forge.pki.publicKeyFromPem(publicKey),
    privateKey: forge.pki.privateKeyFromPem(privateKey),
  };
}

type Subject = forge.pki.CertificateField[];

function makeCertificate(
  publicKey: forge.pki.rsa.PublicKey,
  subject: Subject,
  issuer: Subject,
  signer: forge.pki.rsa.PrivateKey,
  extensions: object[],
): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = new Date(Date.now() - 60_000);
  certificate.validity.notAfter = new Date(Date.now() + 3600_000);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  certificate.sign(signer, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}
