/** Actions and streams through the whole server: who may, what is stored, and what is refused. */
import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  alias,
  createVm,
  createVmi,
  kubevirt,
  refusal,
  startServer,
  vmOf,
  withConsole,
} from '../../test/apiserver/subresources.js';

test('start and stop of a halted VM change its run strategy, under both groups', async (t) => {
  const server = await startServer(t);
  await createVm(server, 'a', 'Halted');
  const started = await server.request('PUT', `${alias}/virtualmachines/a/start`, { token: 'admin' });
  assert.deepEqual([started.status, started.text], [202, '']);
  assert.equal((await vmOf(server, 'a'))?.spec.runStrategy, 'Always');
  const again = await server.request('PUT', `${kubevirt}/virtualmachines/a/start`, { token: 'admin' });
  assert.deepEqual(
    [again.status, again.json().reason, again.json().message],
    [
      409,
      'Conflict',
      'Operation cannot be fulfilled on virtualmachines.kubevirt.io "a": Always does not support manual start requests',
    ],
  );
  const stopped = await server.request('PUT', `${kubevirt}/virtualmachines/a/stop`, {
    token: 'admin',
    body: '{}',
  });
  assert.equal(stopped.status, 202);
  assert.equal((await vmOf(server, 'a'))?.spec.runStrategy, 'Halted');
});

test('a manual VM is asked by state change requests; a dry run asks nothing', async (t) => {
  const server = await startServer(t);
  await createVm(server, 'a', 'Manual');
  const body = JSON.stringify({ paused: true, dryRun: ['All'] });
  const headers = { 'content-type': 'application/json' };
  const path = `${alias}/virtualmachines/a/start`;
  assert.equal((await server.request('PUT', path, { token: 'admin', body, headers })).status, 202);
  assert.equal((await vmOf(server, 'a'))?.status?.stateChangeRequests, undefined);
  await server.request('PUT', path, { token: 'admin', body: '{"paused":true}', headers });
  assert.deepEqual((await vmOf(server, 'a'))?.status?.stateChangeRequests, [
    { action: 'Start', data: { paused: 'true' } },
  ]);
});

test('bad options, unknown machines and wrong methods are refused as Statuses', async (t) => {
  const server = await startServer(t);
  await createVm(server, 'a', 'Manual');
  const path = `${alias}/virtualmachines/a`;
  const json = { 'content-type': 'application/json' };
  const cases: readonly (readonly [string, string, string | undefined, Record<string, string>, number])[] = [
    ['PUT', `${path}/start`, '{"paused":"yes"}', json, 422],
    ['PUT', `${path}/start`, '{', json, 400],
    ['PUT', `${path}/start`, '[]', json, 400],
    ['PUT', `${path}/start`, '{}', { 'content-type': 'text/plain' }, 415],
    ['PUT', `${path}/start`, '{"kind":"StopOptions"}', json, 400],
    ['PUT', `${path}/start`, '{"dryRun":["Some"]}', json, 400],
    ['PUT', `${path}/restart`, '{"gracePeriodSeconds":5}', json, 400],
    ['PUT', `${path}/stop`, '{"gracePeriod":-1}', json, 400],
    ['GET', `${path}/start`, undefined, {}, 405],
    ['PUT', `${path}/nonsense`, undefined, {}, 404],
    ['PUT', `${alias}/virtualmachines/b/start`, undefined, {}, 404],
    ['GET', `${alias}/virtualmachines/a`, undefined, {}, 404],
    ['GET', `${path}/console`, undefined, {}, 400],
  ];
  for (const [method, target, body, headers, code] of cases) {
    const answer = await server.request(method, target, {
      token: 'admin',
      headers,
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, code, `${method} ${target} ${body ?? ''}: ${answer.text}`);
  }
  const nonsense = await server.request('PUT', `${path}/nonsense`, { token: 'admin' });
  assert.equal(nonsense.text, '404 page not found\n', 'not the machine is missing');
});

test('the alias group has rules of its own', async (t) => {
  const server = await startServer(t);
  await createVm(server, 'a', 'Halted');
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await server.create(`${rbac}/roles`, {
    apiVersion,
    kind: 'Role',
    metadata: { name: 'starter' },
    rules: [
      { apiGroups: ['subresources.kubevirt.io'], resources: ['virtualmachines/start'], verbs: ['update'] },
    ],
  });
  await server.create(`${rbac}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'starter' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'starter' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  });
  const beside = await server.request('PUT', `${kubevirt}/virtualmachines/a/start`, { token: 'bob' });
  assert.equal(beside.status, 403);
  assert.equal(
    beside.json().message,
    'virtualmachines.kubevirt.io "a" is forbidden: User "bob" cannot update resource "virtualmachines/start" in API group "kubevirt.io" in the namespace "default"',
  );
  assert.equal(
    (await server.request('PUT', `${alias}/virtualmachines/a/start`, { token: 'bob' })).status,
    202,
  );
});

test('a console is relayed both ways, with everything that the guest said first', async (t) => {
  const { server, agent, dial } = await withConsole(t);
  const vm = await createVm(server, 'a', 'Always');
  const uid = await createVmi(server, 'a', 'Running', 'n1', { vm });
  for (const path of [
    `${alias}/virtualmachineinstances/a/console`,
    `${kubevirt}/virtualmachines/a/console?mode=read`,
  ]) {
    const socket = dial(path);
    const [first] = (await once(socket, 'message')) as [Buffer];
    assert.equal(socket.protocol, 'plain.kubevirt.io');
    assert.equal(first.toString(), 'login: ');
    socket.send('root\n');
    const [echo, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
    assert.deepEqual([echo.toString(), isBinary], ['root\n', true]);
    const agentClosed = once(agent.sockets.at(-1) ?? socket, 'close');
    socket.close(1000);
    await once(socket, 'close');
    assert.equal(((await agentClosed) as [number])[0], 1000);
  }
  const base = '/v1/namespaces/default/virtualmachineinstances/a/console';
  assert.deepEqual(agent.calls, [`${base}?uid=${uid}&mode=force`, `${base}?uid=${uid}&mode=read`]);
});

test('a megabyte each way survives back pressure', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const socket = dial(`${alias}/virtualmachineinstances/a/console`, 'admin', []);
  await once(socket, 'message');
  assert.equal(socket.protocol, '');
  const sent = Buffer.from(Array.from({ length: 64 * 1024 }, (_, index) => index % 251));
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      assert.ok(data.equals(sent));
      received += data.length;
      if (received === 64 * sent.length) resolve();
    });
  });
  for (let count = 0; count < 64; count++) socket.send(sent);
  await all;
  socket.terminate();
});

test('when the agent goes away the client is told, and when the client breaks the agent is', async (t) => {
  const { server, agent, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const path = `${alias}/virtualmachineinstances/a/console`;
  const first = dial(path);
  await once(first, 'message');
  agent.sockets[0]?.terminate();
  assert.equal(((await once(first, 'close')) as [number])[0], 1011);
  const second = dial(path);
  await once(second, 'message');
  const agentClosed = once(agent.sockets[1] ?? second, 'close');
  second.terminate();
  assert.equal(((await agentClosed) as [number])[0], 1011);
});

test('consoles end when the server stops', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const socket = dial(`${alias}/virtualmachineinstances/a/console`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await server.server.stop();
  assert.equal(((await closed) as [number])[0], 1001);
});

test('before the upgrade every refusal is a Status', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'pending', 'Scheduling', '');
  await createVmi(server, 'busy', 'Running', 'n1');
  await createVmi(server, 'lost', 'Running', 'n2');
  await createVm(server, 'halted', 'Halted');
  const vmi = (name: string): string => `${alias}/virtualmachineinstances/${name}/console`;
  assert.equal((await refusal(dial(vmi('nope')))).code, 404);
  assert.equal((await refusal(dial(vmi('pending')))).code, 409);
  assert.equal((await refusal(dial(`${alias}/virtualmachines/halted/console`))).code, 409);
  assert.deepEqual(await refusal(dial(vmi('busy'))), { code: 409, message: 'somebody writes already' });
  assert.equal((await refusal(dial(vmi('lost')))).code, 503);
  assert.equal((await refusal(dial(`${vmi('busy')}?mode=nonsense`))).code, 400);
  assert.equal((await refusal(dial(vmi('busy'), 'bob'))).code, 403);
  assert.equal((await refusal(dial(vmi('busy'), 'nobody'))).code, 401);
});
