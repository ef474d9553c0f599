/** Ports of a guest on QEMU's user-mode network, reached by a user's ssh, scp and sockets. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { Cluster, command, eventually, withTimeout } from './harness.js';
import { virtualMachine } from './manifests.js';
import { udpEchoPort, udpEchoProgram } from './udp-echo.js';

const kubectlVirt = path.resolve(import.meta.dirname, '../../bin/kubectl-virt');

/** Runs until the test ends; answers the local ports, in the order of what was asked for. */
async function forward(t: test.TestContext, cluster: Cluster, ...ports: string[]): Promise<number[]> {
  const child = spawn(process.execPath, [kubectlVirt, 'port-forward', 'vm/demo', ...ports], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => child.kill());
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const found = (): number[] =>
    [...said.matchAll(/Forwarding \w+\/127\.0\.0\.1:(\d+) ->/g)].map(([, port]) => Number(port));
  await eventually('the ports listen', () => found().length === ports.length);
  return found();
}

function banner(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', (chunk: Buffer) => {
      socket.destroy();
      resolve(chunk.toString());
    });
    socket.once('error', reject).once('close', () => {
      reject(new Error('closed before the guest said anything'));
    });
  });
}

/** Datagrams that are sent again until each has come back: UDP, and the network on the way, may lose some. */
async function echo(port: number, datagrams: readonly string[]): Promise<void> {
  const socket = createSocket('udp4');
  const missing = new Set(datagrams);
  socket.on('message', (data) => missing.delete(data.toString()));
  try {
    await eventually('the datagrams come back', () => {
      for (const datagram of missing) socket.send(datagram, port, '127.0.0.1');
      return missing.size === 0;
    });
  } finally {
    socket.close();
  }
}

/** Local addresses, as the kernel writes them, of TCP sockets of a process that listen and of all its UDP sockets. */
function openPorts(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        // It was closed while we looked.
        return [];
      }
    }),
  );
  return ['tcp', 'udp'].flatMap((protocol) =>
    readFileSync(`/proc/${pid}/net/${protocol}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, , , state, , , , , , inode = '']) => inodes.has(inode) && (protocol === 'udp' || state === '0A'),
      )
      .map(([, address = '']) => `${protocol} ${address}`),
  );
}

test('ssh, scp and forwarded ports reach a guest that has no address outside QEMU', async (t) => {
  const cluster = await Cluster.start(t);
  const key = path.join(cluster.dataDirectory, 'id');
  const made = await command('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  if (made.code !== 0) {
    t.skip('ssh-keygen is not installed here');
    return;
  }
  const userData = `#cloud-config
user: tester
ssh_authorized_keys:
  - ${readFileSync(`${key}.pub`, 'utf8').trim()}
`;
  const secret = (name: string, stringData: object): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    stringData,
  });
  await cluster.create(secret('keys', { laptop: readFileSync(`${key}.pub`, 'utf8') }));
  await cluster.create(secret('passwords', { tester: 'open sesame' }));
  const byAgent = (secretName: string, qemuGuestAgent: object): object => ({
    source: { secret: { secretName } },
    propagationMethod: { qemuGuestAgent },
  });
  const accessCredentials = [
    { sshPublicKey: byAgent('keys', { users: ['root'] }) },
    { userPassword: byAgent('passwords', {}) },
  ];
  await cluster.create(virtualMachine({ name: 'demo', userData, accessCredentials }));
  await cluster.wait('vmi/demo', 'condition=AgentConnected', 180);
  const login = [
    ...['-i', key, '-t', '-o StrictHostKeyChecking=no', '-t', '-o LogLevel=ERROR'],
    ...['--known-hosts', path.join(cluster.dataDirectory, 'known_hosts')],
  ];
  const ssh = (remote: string, user = 'tester'): ReturnType<Cluster['virt']> =>
    cluster.virt(['ssh', `${user}@vm/demo`, ...login, '--command', remote]);

  await t.test('ssh runs a command, with its exit status', async () => {
    const result = await ssh('uname -s; exit 7');
    assert.deepEqual([result.code, result.stdout], [7, 'Linux\n'], result.stderr);
  });

  await t.test('keys and passwords of secrets are in the guest, by its agent', async () => {
    await cluster.wait('vmi/demo', 'condition=AccessCredentialsSynchronized', 60);
    const root = await ssh('grep ^tester: /etc/shadow', 'root');
    assert.equal(root.code, 0, root.stderr);
    const [, hash = ''] = root.stdout.split(':');
    assert.match(hash, /^\$/, 'tester has a password');
  });

  await t.test('scp copies there and back', async () => {
    const file = path.join(cluster.dataDirectory, 'echo');
    writeFileSync(file, udpEchoProgram());
    const there = await cluster.virt(['scp', ...login, file, 'tester@vm/demo:echo']);
    assert.equal(there.code, 0, there.stderr);
    const back = await cluster.virt(['scp', ...login, 'tester@vmi/demo/default:echo', `${file}.back`]);
    assert.equal(back.code, 0, back.stderr);
    assert.deepEqual(readFileSync(`${file}.back`), udpEchoProgram());
  });

  await t.test('TCP and UDP ports, several clients at once, and none that nobody listens on', async (t) => {
    const started = await ssh('chmod +x echo; (./echo </dev/null >/dev/null 2>&1 &)');
    assert.equal(started.code, 0, started.stderr);
    const [tcp = 0, udp = 0, closed = 0] = await forward(t, cluster, '0:22', `udp/0:${udpEchoPort}`, '0:81');
    const banners = await withTimeout(
      Promise.all([banner(tcp), banner(tcp), banner(tcp)]),
      60_000,
      () => 'the guest said nothing',
    );
    for (const text of banners) assert.match(text, /^SSH-2\.0-/);
    await Promise.all([echo(udp, ['a', 'x'.repeat(1000)]), echo(udp, ['b'])]);
    await assert.rejects(banner(closed));
  });

  await t.test('afterwards nothing listens for the guest', async () => {
    const [qemu = 0] = cluster.processes('qemu');
    assert.notEqual(qemu, 0);
    await eventually('QEMU has no open ports', () => openPorts(qemu).length === 0);
  });
});
