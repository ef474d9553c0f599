import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { afterEach, beforeEach } from 'node:test';
import type { AccessCredential } from '../openapi/generated/types/kubevirt_v1.js';
import { accessCredentialVolume } from '../openapi/launcher/pod.js';
import type { DomainStatus } from '../openapi/launcher/protocol.js';
import { smallVmi } from '../test/fake-qemu/launcher-process.js';
import { ManualClock } from '../test/fake-qemu/manual-clock.js';
import { AccessCredentials, sshPublicKeys } from './access-credentials.js';
import { GuestAgentError } from './guest-agent.js';
import type { JsonObject } from './qmp/messages.js';

const secret = { secret: { secretName: 'mine' } };
const byAgent = (...users: string[]): AccessCredential => ({
  sshPublicKey: { source: secret, propagationMethod: { qemuGuestAgent: { users } } },
});
const password: AccessCredential = {
  userPassword: { source: secret, propagationMethod: { qemuGuestAgent: {} } },
};
const quiet = { info: () => {}, warn: () => {}, error: () => {} };

let podDir: string;
beforeEach(() => {
  podDir = mkdtempSync(join(tmpdir(), 'nativirt-credentials-'));
  process.chdir(podDir);
});
afterEach(() => {
  process.chdir('/');
  rmSync(podDir, { recursive: true, force: true });
});

function writeSecret(index: number, data: Readonly<Record<string, string>>): void {
  const directory = join('volumes', accessCredentialVolume(index));
  mkdirSync(directory, { recursive: true });
  for (const [key, value] of Object.entries(data)) writeFileSync(join(directory, key), value);
}

/** A guest's agent that notes what it is told, and what the launcher says of it. */
function guest(accessCredentials: AccessCredential[], refuse?: string) {
  const told: { command: string; parameters: JsonObject | undefined }[] = [];
  const reports: DomainStatus['accessCredentials'][] = [];
  const waiting: (() => void)[] = [];
  const clock = new ManualClock();
  const credentials = new AccessCredentials({
    vmi: smallVmi('u', { accessCredentials }),
    agent: {
      execute(command, parameters) {
        if (refuse !== undefined) return Promise.reject(new GuestAgentError('refused', command, refuse));
        told.push({ command, parameters });
        return Promise.resolve({});
      },
    },
    publish(report) {
      reports.push(report);
      waiting.shift()?.();
    },
    clock,
    logger: quiet,
  });
  const reported = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { told, reports, clock, credentials, reported };
}

test('keys and passwords go to the guest when its agent comes', async () => {
  writeSecret(0, { work: 'ssh-ed25519 AAAA work\n', home: 'ssh-ed25519 BBBB home\n\n' });
  writeSecret(1, { root: 'ssh-rsa CCCC' });
  writeSecret(2, { root: 'secret\n' });
  const { told, reports, credentials, reported } = guest([byAgent('root', 'me'), byAgent('root'), password]);
  const first = reported();
  credentials.start();
  await first;
  credentials.stop();
  const both = ['ssh-ed25519 BBBB home', 'ssh-ed25519 AAAA work'];
  const authorize = 'guest-ssh-add-authorized-keys';
  assert.deepEqual(told, [
    {
      command: authorize,
      parameters: { username: 'root', keys: [...both, 'ssh-rsa CCCC'], reset: true },
    },
    { command: authorize, parameters: { username: 'me', keys: both, reset: true } },
    {
      command: 'guest-set-user-password',
      parameters: { username: 'root', password: Buffer.from('secret\n').toString('base64'), crypted: false },
    },
  ]);
  assert.deepEqual(reports, [{ synchronized: true, message: '' }]);
});

test('a secret that changes is brought in again, and only then', async () => {
  writeSecret(0, { root: 'old' });
  const { told, clock, credentials, reported } = guest([password]);
  const first = reported();
  credentials.start();
  await first;
  assert.equal(told.length, 1);
  rmSync(join('volumes', accessCredentialVolume(0)), { recursive: true });
  const missing = reported();
  clock.advance(10_000);
  await missing;
  writeSecret(0, { root: 'new' });
  const again = reported();
  clock.advance(10_000);
  await again;
  credentials.stop();
  assert.deepEqual(
    told.map(({ parameters }) => Buffer.from(String(parameters?.['password']), 'base64').toString()),
    ['old', 'new'],
  );
});

test('a guest that refuses is told of, once', async () => {
  writeSecret(0, { root: 'x' });
  const { reports, credentials, reported } = guest([password], 'no such user');
  const first = reported();
  credentials.start();
  await first;
  credentials.stop();
  assert.deepEqual(reports, [
    { synchronized: false, message: 'guest-set-user-password: the guest agent refused: no such user' },
  ]);
});

test('what cloud-init brings is not for the agent', async () => {
  writeSecret(0, { key: 'ssh-rsa DDDD' });
  const noCloud: AccessCredential = {
    sshPublicKey: { source: secret, propagationMethod: { noCloud: {} } },
  };
  const { told, credentials } = guest([noCloud]);
  credentials.start();
  assert.deepEqual(told, []);
  const vmi = smallVmi('u', { accessCredentials: [noCloud] });
  assert.deepEqual(await sshPublicKeys(vmi, 'noCloud'), ['ssh-rsa DDDD']);
  assert.deepEqual(await sshPublicKeys(vmi, 'configDrive'), []);
});
