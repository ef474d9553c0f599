import assert from 'node:assert/strict';
import test from 'node:test';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import type { Status } from '../../openapi/meta.js';
import type { VirtualMachineInstanceGuestAgentInfo } from '../../openapi/generated/types/kubevirt_v1.js';
import { LauncherAnswer, setUpStreams, type Answer } from '../testing/streams.js';

const agentAnswers: Readonly<Record<string, unknown>> = {
  'guest-info': {
    version: '7.2.0',
    supported_commands: [{ name: 'guest-ping', enabled: true, 'success-response': true }],
  },
  'guest-get-osinfo': { id: 'debian', name: 'Debian GNU/Linux', 'version-id': 12, machine: 'x86_64' },
  'guest-get-timezone': { zone: 'CET', offset: 3600 },
  'guest-get-users': [{ user: 'anna', 'login-time': 1700000000.5 }, 'nonsense'],
  'guest-get-fsinfo': [
    {
      name: 'vda1',
      mountpoint: '/',
      type: 'ext4',
      'used-bytes': 1,
      'total-bytes': 2,
      disk: [{ 'bus-type': 'virtio', serial: 's1' }],
    },
  ],
  'guest-fsfreeze-status': 'frozen',
};

const launcher =
  (calls: unknown[]): Answer =>
  (method, params) => {
    calls.push([method, params]);
    if (method === 'screenshot') return { png: Buffer.from('image').toString('base64') };
    if (method === 'reset') throw new LauncherAnswer(launcherErrorCodes.invalidState, 'it is Shutoff');
    if (method !== 'guestAgent') return {};
    const answer = agentAnswers[String(params['execute'])];
    if (answer !== undefined) return answer;
    throw new LauncherAnswer(launcherErrorCodes.guestAgentUnavailable, 'the guest agent refused');
  };

test('actions reach the launcher with their parameters', async (t) => {
  const calls: unknown[] = [];
  const { call } = await setUpStreams(t, ensureCa, { answer: launcher(calls) });
  for (const subject of ['pause', 'unpause', 'unfreeze', 'softreboot'] as const) {
    assert.equal((await call('PUT', subject)).code, 204);
  }
  assert.equal((await call('PUT', 'freeze', { unfreezeTimeoutSeconds: '1.5' })).code, 204);
  assert.deepEqual(calls, [
    ['pause', {}],
    ['unpause', {}],
    ['unfreeze', {}],
    ['softReboot', {}],
    ['freeze', { unfreezeTimeoutSeconds: 1.5 }],
  ]);
});

test('what the guest agent tells is checked and translated; what it refuses is left out', async (t) => {
  const { call } = await setUpStreams(t, ensureCa, { answer: launcher([]) });
  const { code, type, body } = await call('GET', 'guestosinfo');
  assert.deepEqual([code, type], [200, 'application/json']);
  const users = [{ userName: 'anna', loginTime: 1700000000.5 }, { userName: '' }];
  const disks = [
    {
      diskName: 'vda1',
      mountPoint: '/',
      fileSystemType: 'ext4',
      usedBytes: 1,
      totalBytes: 2,
      disk: [{ busType: 'virtio', serial: 's1' }],
    },
  ];
  const info: VirtualMachineInstanceGuestAgentInfo = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceGuestAgentInfo',
    guestAgentVersion: '7.2.0',
    supportedCommands: [{ name: 'guest-ping', enabled: true }],
    os: { id: 'debian', name: 'Debian GNU/Linux', machine: 'x86_64' },
    timezone: 'CET, 3600',
    userList: users,
    fsInfo: { disks },
    fsFreezeStatus: 'frozen',
  };
  assert.deepEqual(JSON.parse(body.toString()), info);
  const items = async (subject: 'userlist' | 'filesystemlist'): Promise<unknown> =>
    (JSON.parse((await call('GET', subject)).body.toString()) as { items: unknown }).items;
  assert.deepEqual(await items('userlist'), users);
  assert.deepEqual(await items('filesystemlist'), disks);
  const screenshot = await call('GET', 'screenshot', { moveCursor: 'true' });
  assert.deepEqual([screenshot.type, screenshot.body.toString()], ['image/png', 'image']);
});

test('refusals are Status objects', async (t) => {
  const { call } = await setUpStreams(t, ensureCa, { answer: launcher([]) });
  const refused = await call('PUT', 'reset');
  assert.equal(refused.code, 409);
  assert.equal((JSON.parse(refused.body.toString()) as Status).message, 'it is Shutoff');
  assert.equal((await call('GET', 'reset')).code, 405);
  assert.equal((await call('PUT', 'guestosinfo')).code, 405);
  assert.equal((await call('GET', 'console')).code, 404);
  assert.equal((await call('PUT', 'freeze')).code, 400);
  assert.equal((await call('PUT', 'pause', { uid: 'another' })).code, 409);
});
