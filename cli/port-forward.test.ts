import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'node:test';
import { parseTarget } from './machine.js';
import { parsePort } from './port-forward.js';
import { harness } from './testing/harness.js';

test('ports and targets as virtctl writes them', () => {
  assert.deepEqual(parsePort('8080'), { protocol: 'tcp', local: 8080, remote: 8080 });
  assert.deepEqual(parsePort('udp/0:53'), { protocol: 'udp', local: 0, remote: 53 });
  for (const wrong of ['', 'x', '8080:', ':80', 'sctp/1', '0', '1:70000', '1:2:3'])
    assert.throws(() => parsePort(wrong), { name: 'UsageError' }, wrong);
  assert.deepEqual(parseTarget('anna@vmi/demo/other'), {
    machine: { type: 'vmi', name: 'demo' },
    namespace: 'other',
    user: 'anna',
  });
  assert.deepEqual(parseTarget('demo'), {
    machine: { type: 'any', name: 'demo' },
    namespace: undefined,
    user: undefined,
  });
  for (const wrong of ['', '@vm/demo', 'vm/', 'vm/demo/', 'vm/demo/ns/x', 'pod/demo'])
    assert.throws(() => parseTarget(wrong), { name: 'UsageError' }, wrong);
});

test('--stdio is the tunnel itself; what comes after the input has ended is still printed', async (t) => {
  const { run, server, terminal } = await harness(t, false);
  const done = run('port-forward', '--stdio=true', 'vm/demo/other', '22');
  const tunnel = await server.nextConsole();
  terminal.input.write('SSH-2.0-client');
  const [hello] = (await once(tunnel, 'message')) as [Buffer];
  assert.equal(hello.toString(), 'SSH-2.0-client');
  terminal.input.end();
  tunnel.send(Buffer.from('SSH-2.0-guest'));
  await terminal.untilPrinted(/SSH-2.0-guest/);
  tunnel.close();
  assert.equal(await done, 0);
  assert.match(server.consoles[0] ?? '', /namespaces\/other\/virtualmachines\/demo\/portforward\/22\/tcp$/);
});

test('each client of a local port gets a tunnel of its own, and each UDP peer one', async (t) => {
  const { run, server, terminal, interruption } = await harness(t);
  const done = run('port-forward', 'vmi/demo', '0:80', 'udp/0:53');
  await terminal.untilSaid(/udp\/127\.0\.0\.1:\d+/);
  const [tcp = 0, udp = 0] = [...terminal.said.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) =>
    Number(port),
  );
  const client = connect(tcp, '127.0.0.1');
  const first = await server.nextConsole();
  first.send(Buffer.from('welcome'));
  const [welcome] = (await once(client, 'data')) as [Buffer];
  assert.equal(welcome.toString(), 'welcome');
  const gone = once(first, 'close');
  client.destroy();
  await gone;
  const peer = createSocket('udp4');
  t.after(() => peer.close());
  peer.send('query', udp, '127.0.0.1');
  const second = await server.nextConsole();
  const [query] = (await once(second, 'message')) as [Buffer];
  assert.equal(query.toString(), 'query');
  const answered = once(peer, 'message') as Promise<[Buffer]>;
  second.send(Buffer.from('answer'));
  assert.equal((await answered)[0].toString(), 'answer');
  interruption.abort(new Error('interrupted'));
  assert.equal(await done, 0);
  assert.deepEqual(server.consoles, [
    'virtualmachineinstances/demo/portforward/80/tcp',
    'virtualmachineinstances/demo/portforward/53/udp',
  ]);
});

test('a tunnel that is refused ends its client, and the others go on', async (t) => {
  const { run, server, terminal, interruption } = await harness(t);
  server.consoleRefusal = { code: 409, reason: 'Conflict', message: 'VMI is paused' };
  const done = run('port-forward', 'vmi/demo', '0:80');
  await terminal.untilSaid(/Forwarding/);
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(terminal.said)?.[1]);
  const client = connect(port, '127.0.0.1');
  client.on('error', () => undefined);
  await once(client, 'close');
  await terminal.untilSaid(/port 80: VMI is paused/);
  interruption.abort(new Error('interrupted'));
  assert.equal(await done, 0);
});
