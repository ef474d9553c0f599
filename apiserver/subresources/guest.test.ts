/** What is done with a running guest, and read of it, through the whole server up to its node agent. */
import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  alias,
  createVm,
  createVmi,
  kubevirt,
  refusal,
  withConsole,
} from '../../test/apiserver/subresources.js';

const agentPath = '/v1/namespaces/default/virtualmachineinstances/a';
const headers = { 'content-type': 'application/json' };
const agent = { conditions: ['AgentConnected'] };

test('actions on the VMI and through its VM reach the node agent, under both groups', async (t) => {
  const { server, agent: nodeAgent } = await withConsole(t);
  const vm = await createVm(server, 'a', 'Always');
  const uid = await createVmi(server, 'a', 'Running', 'n1', { vm, ...agent });
  const put = async (path: string, body?: string): Promise<void> => {
    const answer = await server.request('PUT', path, {
      token: 'admin',
      ...(body === undefined ? {} : { body, headers }),
    });
    assert.deepEqual([answer.status, answer.text], [200, ''], path);
  };
  await put(`${alias}/virtualmachineinstances/a/pause`, '{}');
  await put(`${kubevirt}/virtualmachines/a/pause`);
  await put(`${alias}/virtualmachineinstances/a/freeze`, '{"unfreezeTimeout":"1m30s"}');
  await put(`${kubevirt}/virtualmachineinstances/a/freeze`);
  await put(`${alias}/virtualmachineinstances/a/unfreeze`);
  await put(`${alias}/virtualmachineinstances/a/softreboot`);
  await put(`${alias}/virtualmachineinstances/a/reset`);
  await put(`${alias}/virtualmachineinstances/a/pause`, '{"dryRun":["All"]}');
  await put(`${alias}/virtualmachineinstances/a/reset?dryRun=All`);
  assert.deepEqual(nodeAgent.calls, [
    `PUT ${agentPath}/pause?uid=${uid}`,
    `PUT ${agentPath}/pause?uid=${uid}`,
    `PUT ${agentPath}/freeze?uid=${uid}&unfreezeTimeoutSeconds=90`,
    `PUT ${agentPath}/freeze?uid=${uid}&unfreezeTimeoutSeconds=300`,
    `PUT ${agentPath}/unfreeze?uid=${uid}`,
    `PUT ${agentPath}/softreboot?uid=${uid}`,
    `PUT ${agentPath}/reset?uid=${uid}`,
  ]);
});

test('what the state of the guest does not allow is refused before the node agent is asked', async (t) => {
  const { server, agent: nodeAgent } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  await createVmi(server, 'paused', 'Running', 'n1', { conditions: ['Paused'] });
  await createVmi(server, 'pending', 'Scheduling', '');
  await createVm(server, 'halted', 'Halted');
  const cases: readonly (readonly [method: string, path: string, code: number, message: RegExp])[] = [
    ['PUT', 'virtualmachineinstances/paused/pause', 409, /VMI is already paused/],
    ['PUT', 'virtualmachineinstances/a/unpause', 409, /VMI is not paused/],
    ['PUT', 'virtualmachineinstances/paused/softreboot', 409, /VMI is paused/],
    ['PUT', 'virtualmachineinstances/a/freeze', 409, /does not have guest agent connected/],
    ['GET', 'virtualmachineinstances/a/guestosinfo', 409, /does not have guest agent connected/],
    ['PUT', 'virtualmachineinstances/pending/pause', 409, /VMI is not running: its phase is Scheduling/],
    ['PUT', 'virtualmachines/halted/pause', 409, /VM is not running/],
    ['PUT', 'virtualmachines/a/pause', 404, /virtualmachines.kubevirt.io "a" not found/],
    ['PUT', 'virtualmachineinstances/none/reset', 404, /not found/],
    ['GET', 'virtualmachineinstances/a/pause', 405, /./],
  ];
  for (const [method, path, code, message] of cases) {
    const answer = await server.request(method, `${alias}/${path}`, { token: 'admin' });
    assert.equal(answer.status, code, `${path}: ${answer.text}`);
    assert.match(String(answer.json().message), message);
  }
  const wrong = await server.request('PUT', `${alias}/virtualmachineinstances/a/freeze`, {
    token: 'admin',
    body: '{"unfreezeTimeout":"soon"}',
    headers,
  });
  assert.equal(wrong.status, 400, wrong.text);
  const forbidden = await server.request('PUT', `${alias}/virtualmachineinstances/a/reset`, { token: 'bob' });
  assert.equal(forbidden.status, 403);
  assert.deepEqual(nodeAgent.calls, []);
});

test('what the guest tells and shows comes back as the node agent gave it, refusals too', async (t) => {
  const { server, agent: nodeAgent } = await withConsole(t);
  const vm = await createVm(server, 'a', 'Always');
  await createVmi(server, 'a', 'Running', 'n1', { vm, ...agent });
  nodeAgent.answers.set('guestosinfo', { code: 200, type: 'application/json', body: '{"hostname":"g"}' });
  nodeAgent.answers.set('screenshot', { code: 200, type: 'image/png', body: 'PNG' });
  const status = { kind: 'Status', reason: 'Conflict', message: 'the guest shut down' };
  nodeAgent.answers.set('userlist', { code: 409, type: 'application/json', body: JSON.stringify(status) });
  const get = (path: string): ReturnType<typeof server.request> =>
    server.request('GET', path, { token: 'admin' });
  assert.deepEqual((await get(`${alias}/virtualmachineinstances/a/guestosinfo`)).json(), { hostname: 'g' });
  const screenshot = await get(`${kubevirt}/virtualmachines/a/vnc/screenshot?moveCursor=true`);
  assert.deepEqual([screenshot.status, screenshot.text], [200, 'PNG']);
  assert.match(nodeAgent.calls[1] ?? '', /moveCursor=true/);
  const refused = await get(`${alias}/virtualmachineinstances/a/userlist`);
  assert.deepEqual([refused.status, refused.json().message], [409, 'the guest shut down']);
});

test('ports, vsock and USB have their paths, queries and devices', async (t) => {
  const { server, agent: nodeAgent, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  await createVmi(server, 'paused', 'Running', 'n1', { conditions: ['Paused'] });
  const instances = `${alias}/virtualmachineinstances`;
  for (const path of ['portforward/22', 'portforward/53/udp']) {
    const socket = dial(`${instances}/a/${path}`);
    await once(socket, 'message');
    socket.terminate();
  }
  const tunnels = nodeAgent.calls.map((call) => new URL(call, 'http://agent').searchParams);
  assert.deepEqual(
    tunnels.map((query) => [query.get('port'), query.get('protocol')]),
    [
      ['22', 'tcp'],
      ['53', 'udp'],
    ],
  );
  const cases: readonly (readonly [path: string, code: number])[] = [
    ['a/portforward', 400],
    ['a/portforward/ssh', 400],
    ['a/portforward/70000', 400],
    ['a/portforward/22/sctp', 400],
    ['a/portforward/22/tcp/x', 400],
    ['paused/portforward/22', 409],
    ['a/vsock?port=1', 400],
    ['a/usbredir', 409],
  ];
  for (const [path, code] of cases) {
    assert.equal((await refusal(dial(`${instances}/${path}`))).code, code, path);
  }
});

test('clients that speak in channels get and give them', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const socket = dial(`${alias}/virtualmachineinstances/a/console`, 'admin', ['v5.channel.k8s.io']);
  const [first] = (await once(socket, 'message')) as [Buffer];
  assert.equal(socket.protocol, 'v5.channel.k8s.io');
  assert.equal(first.toString(), '\u0001login: ');
  socket.send('\u0004{"Width":80,"Height":24}');
  socket.send('\0root');
  const [echo] = (await once(socket, 'message')) as [Buffer];
  assert.equal(echo.toString(), '\u0001root');
  socket.send(Buffer.from([255, 0]));
  const [code] = (await once(socket, 'close')) as [number];
  assert.equal(code, 1000);
});

test('the object graph names what a machine depends on', async (t) => {
  const { server } = await withConsole(t);
  const created = await server.create(`${kubevirt}/virtualmachines`, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'g' },
    spec: {
      runStrategy: 'Halted',
      template: {
        spec: {
          domain: {
            memory: { guest: '128Mi' },
            devices: {
              disks: [
                { name: 'root', disk: {} },
                { name: 'seed', disk: {} },
              ],
            },
          },
          volumes: [
            { name: 'root', persistentVolumeClaim: { claimName: 'data' } },
            { name: 'seed', cloudInitNoCloud: { secretRef: { name: 'user' } } },
          ],
        },
      },
    },
  });
  assert.equal(created.status, 201, created.text);
  const graph = await server.request('GET', `${alias}/virtualmachines/g/objectgraph`, { token: 'admin' });
  assert.equal(graph.status, 200, graph.text);
  const reference = (kind: string, name: string, apiGroup = ''): object => ({
    apiGroup,
    kind,
    name,
    namespace: 'default',
  });
  const role = (name: string): object => ({ 'kubevirt.io/dependency-type': name });
  assert.deepEqual(graph.json(), {
    kind: 'ObjectGraphNode',
    apiVersion: 'kubevirt.io/v1',
    objectReference: reference('VirtualMachine', 'g', 'kubevirt.io'),
    labels: role('compute'),
    children: [
      { objectReference: reference('PersistentVolumeClaim', 'data'), labels: role('storage') },
      { objectReference: reference('Secret', 'user'), labels: role('config') },
    ],
  });
  const storage = await server.request('GET', `${alias}/virtualmachines/g/objectgraph`, {
    token: 'admin',
    headers,
    body: JSON.stringify({ labelSelector: { matchLabels: role('storage') } }),
  });
  assert.equal((storage.json()['children'] as unknown[]).length, 1, storage.text);
});
