/** Guests on networks of their pods: a real node bridge, real namespaces, real guests. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import test from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { converse } from '../e2e/console.js';
import { Cluster, command, eventually } from '../e2e/harness.js';
import { virtualMachine } from '../e2e/manifests.js';

const tools = ['ip', 'nft', 'nsenter', 'sysctl', 'socat', 'qemu-system-x86_64'];

function missing(): string | false {
  if (process.getuid?.() !== 0) return 'only root can make network namespaces';
  const absent = tools.filter((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
  if (absent.length > 0) return `not installed: ${absent.join(', ')}`;
  const namespace = spawnSync('unshare', ['--net', 'ip', 'link', 'add', 'name', 'br0', 'type', 'bridge']);
  return namespace.status === 0
    ? false
    : 'this kernel, or this container, makes no network namespaces with bridges';
}

/** Two runs at once on one machine have networks of their own. */
const run = process.pid % 250;
const bridge = `nvt${process.pid % 100_000}`;
const secondary = `nvs${process.pid % 100_000}`;
const ipv6Prefix = `fd10:${run + 1}:`;

/** passt shuts itself into a user namespace. */
const hasUserNamespaces = spawnSync('unshare', ['--user', 'true']).status === 0;
const passtMissing =
  spawnSync('sh', ['-c', 'command -v passt']).status !== 0
    ? 'passt is not installed'
    : !hasUserNamespaces && 'no user namespaces here, in which passt shuts itself';

const web = [
  'mkdir -p /srv',
  'echo hello >/srv/index.html',
  'httpd -p 8080 -h /srv',
  'httpd -p 9090 -h /srv',
];
/** The guest has no DHCPv6 client: it works out from its IPv4 address what it would be told. */
const podAddress = [
  'until ip -4 -o addr show eth0 | grep -q inet; do usleep 100000; done',
  `ip -6 addr add ${ipv6Prefix}:$(printf %x $(ip -4 -o addr show eth0 | sed 's/.*inet [0-9]*[.][0-9]*[.][0-9]*[.]//; s/[^0-9].*//'))/112 dev eth0`,
];

function machine(name: string, interfaces: readonly { name: string }[], commands: readonly string[]): object {
  const script = ['#!/bin/sh', ...web, ...commands].join('\n');
  const { spec, ...manifest } = virtualMachine({ name, graceSeconds: 0, memory: '128Mi', userData: script });
  const networks = [
    { name: 'default', pod: {} },
    { name: 'blue', multus: { networkName: 'blue' } },
  ].filter((network) => interfaces.some(({ name }) => name === network.name));
  const template = spec['template'] as { spec: { domain: { devices: object } } };
  Object.assign(template.spec.domain.devices, { interfaces });
  Object.assign(template.spec, { networks });
  return { ...manifest, spec };
}

/** What a web server says, or why nobody does. */
function get(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 10_000 });
    let said = '';
    socket.once('connect', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    socket.once('timeout', () => socket.destroy());
    socket.once('error', (error) => resolve(error.message));
    socket.once('close', () => resolve(said));
  });
}

interface Found {
  readonly namespace: string;
  readonly podIPs: readonly string[];
  readonly interfaces: NonNullable<NonNullable<VirtualMachineInstance['status']>['interfaces']>;
}

async function find(cluster: Cluster, name: string): Promise<Found> {
  const pods = await cluster.json<{ items: Pod[] }>(['get', 'pods', '-l', `vm.kubevirt.io/name=${name}`]);
  const vmi = await cluster.json<VirtualMachineInstance>(['get', 'vmi', name]);
  return {
    namespace: `nativirt-${pods.items[0]?.metadata.uid ?? ''}`,
    podIPs: pods.items[0]?.status?.podIPs?.map(({ ip }) => ip) ?? [],
    interfaces: vmi.status?.interfaces ?? [],
  };
}

async function shell(cluster: Cluster, name: string, mark: number, line: string): Promise<string> {
  const said = await converse(cluster, name, [
    ['', `\n${line}; echo end-$((${mark}+1))\n`],
    [`end-${mark + 1}`, ''],
  ]);
  return said.slice(said.lastIndexOf(`((${mark}+1))`));
}

async function login(cluster: Cluster, name: string): Promise<void> {
  await converse(cluster, name, [
    ['login: ', 'nativirt\n'],
    ['assword:', 'nativirt\n'],
    // Or else the shell breaks the line that it is given.
    ['$ ', 'stty cols 1000\n'],
    ['$ ', ''],
  ]);
}

function relays(): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      return line.startsWith('socat\0UDP4-DATAGRAM:127.0.0.1') ? [Number(name)] : [];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}

async function links(): Promise<readonly string[]> {
  const { stdout } = await command('ip', ['-json', 'link']);
  return (JSON.parse(stdout) as { ifname: string; master?: string }[])
    .filter(({ ifname, master }) => [ifname, master].some((name) => name === bridge || name === secondary))
    .map(({ ifname }) => ifname);
}

/** Of a test that failed on the way. */
async function removeLeftovers(namespaces: readonly string[], before: ReadonlySet<number>): Promise<void> {
  for (const pid of relays()) if (!before.has(pid)) process.kill(pid);
  for (const namespace of namespaces) await command('ip', ['netns', 'delete', namespace]);
  for (const name of await links()) await command('ip', ['link', 'delete', 'dev', name]);
  await command('nft', ['delete', 'table', 'inet', `nativirt-${bridge}`]);
}

test('guests have addresses of their own, by translation and by bridge', { skip: missing() }, async (t) => {
  const before = new Set(relays());
  const namespaces: string[] = [];
  t.after(() => removeLeftovers(namespaces, before));
  const cluster = await Cluster.start(t, {
    flags: [
      ...['--pod-network', 'bridge', '--pod-network-bridge', bridge],
      ...['--pod-cidr', `10.213.${run}.0/24,${ipv6Prefix}:/112`, '--secondary-network', `blue=${secondary}`],
    ],
  });
  const translated = [
    { name: 'default', masquerade: {}, ports: [{ port: 8080 }] },
    { name: 'blue', bridge: {} },
  ];
  const bridged = [
    { name: 'default', bridge: {} },
    { name: 'blue', bridge: {} },
  ];
  await cluster.create(machine('one', translated, ['ip -6 addr add fd10:0:2::2/120 dev eth0']));
  await cluster.create(machine('two', bridged, podAddress));
  const names = ['one', 'two'];
  if (passtMissing === false) {
    const passed = [{ name: 'default', passtBinding: {}, ports: [{ port: 8080 }] }];
    await cluster.create(machine('three', passed, podAddress));
    names.push('three');
  }
  for (const name of names) await cluster.wait(`vmi/${name}`, 'condition=AgentConnected', 180);
  await eventually(
    'the guest agents tell addresses',
    async () => {
      const { interfaces } = await find(cluster, 'two');
      return interfaces.some(({ ipAddresses = [] }) =>
        ipAddresses.some((address) => address.startsWith('10.')),
      );
    },
    60,
  );
  const one = await find(cluster, 'one');
  const two = await find(cluster, 'two');
  for (const name of names) namespaces.push((await find(cluster, name)).namespace);
  const reached = ({ podIPs }: Found, port: number): Promise<string[]> =>
    Promise.all(podIPs.map((address) => get(address, port)));

  await t.test('pods and instances tell their addresses', () => {
    for (const { podIPs } of [one, two]) {
      assert.equal(podIPs.length, 2);
      assert.match(podIPs[0] ?? '', new RegExp(`^10\\.213\\.${run}\\.`));
      assert.ok(podIPs[1]?.startsWith(`${ipv6Prefix}:`));
    }
    assert.deepEqual(one.interfaces[0]?.ipAddresses, one.podIPs);
    assert.equal(one.interfaces[0].podInterfaceName, 'eth0');
    assert.equal(one.interfaces[0].interfaceName, 'eth0');
    assert.equal(two.interfaces[0]?.ipAddress, two.podIPs[0]);
    assert.match(two.interfaces[1]?.podInterfaceName ?? '', /^pod[0-9a-f]{11}$/);
  });

  await t.test('ports are open where the spec lists them, or has no list', async () => {
    await eventually('IPv6 addresses are the guests’', async () =>
      [...(await reached(one, 8080)), ...(await reached(two, 8080))].every((said) => said.includes('hello')),
    );
    assert.deepEqual(
      (await reached(one, 9090)).map((said) => said.includes('ECONNREFUSED')),
      [true, true],
    );
    for (const said of await reached(two, 9090)) assert.match(said, /hello/);
  });

  await t.test('guests reach each other, the node, and each other’s open ports', async () => {
    const [four = '', six = ''] = two.podIPs;
    await login(cluster, 'one');
    const ping = [four, six, `10.213.${run}.1`].map((address) => `ping -c 1 -W 10 ${address}`).join('; ');
    const said = await shell(cluster, 'one', 100, ping);
    assert.equal(said.match(/ 0% packet loss/g)?.length, 3, said);
    await login(cluster, 'two');
    const [target = ''] = one.podIPs;
    const asked = await shell(
      cluster,
      'two',
      200,
      `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${target} 8080; nc -w 10 ${target} 9090 </dev/null || echo closed`,
    );
    assert.match(asked, /hello/);
    assert.match(asked, /closed/);
  });

  await t.test(
    'passt gives a guest the addresses of its pod, both ways',
    { skip: passtMissing },
    async () => {
      const three = await find(cluster, 'three');
      assert.deepEqual(three.interfaces[0]?.ipAddresses, three.podIPs);
      await login(cluster, 'three');
      const [four = '', six = ''] = two.podIPs;
      // Once nc has no more to say it closes its own direction; the passt of Debian 12 then repeats itself, or never ends.
      const request = `(printf 'GET / HTTP/1.0\\r\\n\\r\\n'; sleep 3) | nc -w 10 ${four} 8080`;
      const pings = `ping -c 1 -W 10 ${four}; ping -c 1 -W 10 ${six}`;
      const said = await shell(cluster, 'three', 300, `${pings}; ${request}`);
      assert.equal(said.match(/ 0% packet loss/g)?.length, 2, said);
      assert.match(said, /hello/);
      await eventually('passt has seen the guest’s addresses', async () =>
        (await reached(three, 8080)).every((page) => page.includes('hello')),
      );
      assert.deepEqual(
        (await reached(three, 9090)).map((page) => page.includes('ECONNREFUSED')),
        [true, true],
      );
    },
  );

  await t.test('a guest’s ports are forwarded, listed or not', async () => {
    for (const name of ['one', 'two']) {
      const { stdout, stderr } = await cluster.virt(
        ['port-forward', '--stdio', `vm/${name}`, '9090'],
        'GET / HTTP/1.0\r\n\r\n',
      );
      assert.match(stdout, /hello/, stderr);
    }
  });

  await t.test('an agent that starts anew finds everything, and mends what is broken', async () => {
    const [relay] = relays().filter((pid) => !before.has(pid));
    assert.ok(relay);
    await cluster.kill('SIGKILL');
    process.kill(relay, 'SIGKILL');
    await cluster.start();
    await eventually('both relays run', () => relays().filter((pid) => !before.has(pid)).length === 2);
    assert.deepEqual((await find(cluster, 'one')).podIPs, one.podIPs);
    assert.deepEqual((await find(cluster, 'two')).podIPs, two.podIPs);
    for (const said of [...(await reached(one, 8080)), ...(await reached(two, 8080))])
      assert.match(said, /hello/);
  });

  await t.test('nothing is left', async () => {
    await cluster.get(['delete', 'vm', '--all']);
    await eventually('no interface is left on the bridges', async () => {
      return (await links()).every((name) => name === bridge || name === secondary);
    });
    await eventually('no relay is left', () => relays().every((pid) => before.has(pid)));
    await cluster.kill('SIGTERM');
    assert.deepEqual(await links(), []);
    assert.doesNotMatch((await command('nft', ['list', 'tables'])).stdout, new RegExp(bridge));
  });
});
