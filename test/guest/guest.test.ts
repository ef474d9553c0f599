/** The guest image does what the demo and the other tests rely on. Made by build-guest.sh. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Machine } from './machine.js';

const signal = (): AbortSignal => AbortSignal.timeout(240_000);

test('the disk boots, does what cloud-config says, answers the agent and obeys the power button', async (t) => {
  const userData = [
    '#cloud-config',
    'hostname: rex',
    'user: ada',
    'password: "enchantress: #1"',
    'chpasswd: { expire: False }',
    'users:',
    '  - default',
    '  - name: charles',
    '    groups: [wheel, users]',
    '    ssh_authorized_keys:',
    '      - ssh-ed25519 AAAAC3NzaC1lZDI1 charles@engine',
    'write_files:',
    '  - path: /etc/motto',
    '    permissions: "0640"',
    '    owner: root:users',
    '    content: |',
    "      it's: a",
    '        # motto',
    'runcmd:',
    '  - echo "$HOSTNAME ran" > /tmp/string',
    '  - [sh, -c, "echo $0 $1 > /tmp/list", "a b", c]',
  ].join('\n');
  const machine = await Machine.start(t, {
    boot: 'disk',
    seed: { 'meta-data': '{"instance-id":"i-1","local-hostname":"other"}', 'user-data': userData },
  });
  const { serial } = machine;
  await serial.login({ user: 'ada', password: 'enchantress: #1' }, signal());
  assert.match(await serial.run('uname -a', signal()), /^Linux rex /);
  assert.equal(await serial.run('cloud-init status --wait', signal()), 'status: done');
  assert.equal(await serial.run('cat /tmp/list', signal()), 'a b c');
  assert.match(await serial.run('cat /tmp/string', signal()), /ran$/);
  assert.match(await serial.run('id charles', signal()), /groups=.*wheel.*/);
  assert.match(await serial.run('df /', signal()), /\/dev\/vd/);
  assert.match(await serial.run('ip addr', signal()), /inet 10\.0\.2\.15\/24/);

  serial.send('exit\n');
  await serial.login({ user: 'root', password: 'nativirt' }, signal());
  assert.match(await serial.run('ls -l /etc/motto', signal()), /^-rw-r----- .* root +users /);
  assert.equal(await serial.run('cat /etc/motto', signal()), "it's: a\n  # motto");
  assert.match(
    await serial.run('cat /home/charles/.ssh/authorized_keys', signal()),
    /^ssh-ed25519 AAAAC3NzaC1lZDI1 charles@engine$/,
  );

  assert.deepEqual(await machine.guestAgent('guest-get-host-name'), { 'host-name': 'rex' });
  assert.equal(await machine.powerDown(), 0);
});

test('kernel and initrd boot into RAM, run a user script, and take a static address', async (t) => {
  const networkConfig = [
    'version: 2',
    'ethernets:',
    '  any:',
    '    match:',
    '      macaddress: "52:54:00:00:00:01"',
    '    set-name: lan0',
    '    addresses: [10.0.2.77/24]',
    '    gateway4: 10.0.2.2',
    '    nameservers:',
    '      addresses:',
    '        - 10.0.2.3',
  ].join('\n');
  const machine = await Machine.start(t, {
    boot: 'kernel',
    seed: {
      'meta-data': 'instance-id: i-2\nlocal-hostname: ram\n',
      'user-data': '#!/bin/sh\necho scripted > /tmp/script\n',
      'network-config': networkConfig,
    },
  });
  const { serial } = machine;
  await serial.login({ user: 'nativirt', password: 'nativirt' }, signal());
  assert.equal(await serial.run('hostname', signal()), 'ram');
  assert.equal(await serial.run('cloud-init status --wait', signal()), 'status: done');
  assert.equal(await serial.run('cat /tmp/script', signal()), 'scripted');
  assert.match(await serial.run('ip addr show lan0', signal()), /inet 10\.0\.2\.77\/24/);
  assert.match(await serial.run('ip route', signal()), /default via 10\.0\.2\.2 dev lan0/);
  assert.equal(await serial.run('cat /etc/resolv.conf', signal()), 'nameserver 10.0.2.3');
  assert.equal(await machine.powerDown(), 0);
});
