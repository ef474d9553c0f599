/** passt in a pod's network namespace, as the launcher starts it. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { passtProgram } from '../../launcher/network/passt.js';
import { enter } from '../../node-agent/network/commands.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { command, eventually } from '../e2e/harness.js';

const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function missing(): string | false {
  if (process.getuid?.() !== 0) return 'only root can make network namespaces';
  const absent = ['ip', 'nsenter', 'passt'].filter(
    (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
  );
  if (absent.length > 0) return `not installed: ${absent.join(', ')}`;
  const namespace = spawnSync('unshare', ['--net', 'true']);
  if (namespace.status !== 0) return 'this container makes no network namespaces';
  const user = spawnSync('unshare', ['--user', 'true']);
  return user.status === 0 ? false : 'no user namespaces here, in which passt shuts itself';
}

test('passt listens on the ports of the pod that the spec lists', { skip: missing() }, async (t) => {
  const name = `nativirt-passt-${process.pid}`;
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-passt-'));
  mkdirSync(join(directory, podLayout.qemu));
  const [program = '', ...prefix] = enter(`/run/netns/${name}`);
  const inside = async (...argv: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(program, [...prefix, ...argv]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  t.after(async () => {
    await command('ip', ['netns', 'delete', name]);
    rmSync(directory, { recursive: true });
  });
  const added = await command('ip', ['netns', 'add', name]);
  assert.equal(added.code, 0, added.stderr);
  await inside('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'far');
  await inside('ip', 'address', 'add', '10.9.0.2/24', 'dev', 'eth0');
  for (const device of ['lo', 'far', 'eth0']) await inside('ip', 'link', 'set', 'dev', device, 'up');
  await inside('ip', 'route', 'add', 'default', 'via', '10.9.0.1');
  const entry = {
    name: 'default',
    ports: [{ port: 80 }],
    portRanges: [{ start: 8000, end: 8002, protocol: 'TCP' }],
  };
  const made = { kind: 'passt', mac: '02:00:00:00:00:01', podInterface: 'eth0', addresses: [] } as const;
  const { binary, argv, socket } = passtProgram(entry, made, searchPath, true);
  const passt = spawn(program, [...prefix, binary, ...argv], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  passt.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  t.after(async () => {
    if (passt.exitCode !== null || passt.signalCode !== null) return;
    passt.kill('SIGKILL');
    await once(passt, 'exit');
  });
  await eventually('passt listens for QEMU', () => {
    assert.equal(passt.exitCode, null, said);
    return existsSync(join(directory, socket));
  });
  const sockets = await inside('cat', '/proc/net/tcp');
  const ports = new Set(
    [...sockets.matchAll(/: [0-9A-F]{8}:([0-9A-F]{4}) \S+ 0A/g)].map(([, port = '']) => parseInt(port, 16)),
  );
  assert.deepEqual(
    [...ports].sort((one, other) => one - other),
    [80, 8000, 8001, 8002],
  );
});
