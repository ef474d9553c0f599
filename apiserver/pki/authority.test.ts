import test from 'node:test';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCa, subjectOf } from './authority.js';
import { kubeconfigFor } from './kubeconfig.js';

async function scratch(t: test.TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-pki-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

const leaf = {
  commonName: 'server, "one"',
  organizations: ['system:masters', 'b, c'],
  dnsNames: ['localhost', 'vm.example.com'],
  ips: ['127.0.0.1', '::1', 'fd00:1::2:3'],
  usages: ['server', 'client'],
  days: 10,
} as const;

test('a leaf is signed by its authority and says what was asked for', async (t) => {
  const ca = await ensureCa(await scratch(t));
  const authority = new X509Certificate(ca.cert);
  const certificate = new X509Certificate(ca.issue(leaf).cert);
  assert.ok(authority.ca);
  assert.ok(!certificate.ca);
  assert.ok(certificate.checkIssued(authority));
  assert.ok(certificate.verify(authority.publicKey));
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  assert.deepEqual(subjectOf(certificate), {
    commonName: 'server, "one"',
    organizations: ['system:masters', 'b, c'],
  });
  for (const dns of leaf.dnsNames) assert.equal(certificate.checkHost(dns), dns);
  for (const ip of leaf.ips) assert.equal(certificate.checkIP(ip), ip);
  assert.equal(certificate.checkIP('127.0.0.2'), undefined);
});

test('the authority is made once, with files only its owner reads', async (t) => {
  const directory = join(await scratch(t), 'pki');
  const first = await ensureCa(directory);
  const second = await ensureCa(directory);
  assert.equal(first.cert, second.cert);
  assert.equal((await stat(join(directory, 'ca.key'))).mode & 0o777, 0o600);
});

test('an authority whose files do not belong together is refused', async (t) => {
  const directory = await scratch(t);
  await ensureCa(directory);
  const stranger = await ensureCa(join(directory, 'other'));
  await writeFile(join(directory, 'ca.crt'), stranger.cert);
  await assert.rejects(ensureCa(directory), /do not belong together/);
});

test('an expired authority is an error, and a leaf never outlives its authority', async (t) => {
  const directory = await scratch(t);
  const ca = await ensureCa(directory, { days: 5 });
  const issued = new X509Certificate(ca.issue(leaf).cert);
  assert.equal(issued.validTo, new X509Certificate(ca.cert).validTo);
  const later = Date.now() + 6 * 86_400_000;
  await assert.rejects(ensureCa(directory, { now: () => later }), /has expired/);
});

test('a kubeconfig carries server, authority and client certificate', () => {
  const text = kubeconfigFor({ server: 'https://127.0.0.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY' });
  assert.match(text, /server: https:\/\/127\.0\.0\.1:6443/);
  assert.match(text, new RegExp(Buffer.from('CERT').toString('base64')));
  assert.match(text, /current-context: nativirt/);
});
