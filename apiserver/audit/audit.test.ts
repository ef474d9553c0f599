import test from 'node:test';
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonReply } from '../http/status-reply.js';
import { parseRequestInfo } from '../request-info.js';
import type { UserInfo } from '../request.js';
import { startTestServer } from '../../test/apiserver/test-server.js';
import { parseAuditPolicy, type AuditLevel } from './policy.js';

const policyText = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [system:probe]
- level: None
  nonResourceURLs: ['/healthz*', /version]
- level: RequestResponse
  verbs: [create]
  resources: [{group: kubevirt.io, resources: [virtualmachines]}]
  namespaces: [prod]
- level: Request
  resources: [{group: kubevirt.io, resources: ['virtualmachines/*', '*/console']}]
- level: Metadata
  userGroups: [auditors]
  resources: [{group: '', resources: [secrets], resourceNames: [a]}]
- level: None
  resources: [{group: ''}]
- level: Metadata
  omitStages: [ResponseStarted]
`;

const bob: UserInfo = { name: 'bob', groups: ['auditors'], extra: {} };
const table: readonly (readonly [string, string, AuditLevel])[] = [
  ['GET', '/healthz/ping', 'None'],
  ['GET', '/version', 'None'],
  ['GET', '/metrics', 'Metadata'],
  ['POST', '/apis/kubevirt.io/v1/namespaces/prod/virtualmachines', 'RequestResponse'],
  ['POST', '/apis/kubevirt.io/v1/namespaces/test/virtualmachines', 'Metadata'],
  ['PUT', '/apis/kubevirt.io/v1/namespaces/test/virtualmachines/a/start', 'Request'],
  ['GET', '/apis/kubevirt.io/v1/namespaces/test/virtualmachineinstances/a/console', 'Request'],
  ['GET', '/api/v1/namespaces/x/secrets/a', 'Metadata'],
  ['GET', '/api/v1/namespaces/x/secrets/b', 'None'],
  ['GET', '/api/v1/namespaces/x/pods', 'None'],
];

test('the first rule that matches decides', () => {
  const policy = parseAuditPolicy(policyText, 'policy.yaml');
  for (const [method, path, level] of table) {
    const info = parseRequestInfo(method, path, new URLSearchParams());
    assert.equal(policy.evaluate(bob, info).level, level, `${method} ${path}`);
  }
  const probe = { ...bob, name: 'system:probe' };
  const info = parseRequestInfo('GET', '/metrics', new URLSearchParams());
  assert.equal(policy.evaluate(probe, info).level, 'None');
});

test('a policy that can not be is told by file and field', () => {
  const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
  const faults: readonly (readonly [string, RegExp])[] = [
    ['kind: Pod', /p\.yaml: must have kind Policy/],
    [head, /p\.yaml: rules: at least one is needed/],
    [`${head}rules: [{level: Loud}]`, /p\.yaml: rules\[0\]\.level: must be one of None, Metadata/],
    [`${head}rules: [{level: None, users: [1]}]`, /rules\[0\]\.users: must be a list of strings/],
    [`${head}rules: [{level: None, omitStages: [Never]}]`, /rules\[0\]\.omitStages: "Never" is not one of/],
  ];
  for (const [text, message] of faults) assert.throws(() => parseAuditPolicy(text, 'p.yaml'), message);
});

async function logged(
  t: test.TestContext,
  requests: (server: Awaited<ReturnType<typeof startTestServer>>) => Promise<unknown>,
): Promise<Record<string, unknown>[]> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-audit-'));
  t.after(() => rm(directory, { recursive: true }));
  const auditPolicyFile = join(directory, 'policy.yaml');
  const auditLogPath = join(directory, 'audit.log');
  await writeFile(
    auditPolicyFile,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: RequestResponse, verbs: [create]}\n- {level: Metadata}\n',
  );
  const server = await startTestServer(t, {
    auditPolicyFile,
    auditLogPath,
    handle: (context) => {
      if (context.info.verb !== 'create') return Promise.resolve(jsonReply({ name: 'made' }));
      context.annotate?.('policies.example.com/why', 'because');
      context.nameObject?.('made');
      return Promise.resolve(jsonReply({ name: 'made' }, 201));
    },
  });
  await requests(server);
  await server.server.stop();
  const lines = (await readFile(auditLogPath, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a request is logged with who, what, when and how it ended', async (t) => {
  const events = await logged(t, (server) =>
    server.request('POST', '/api/v1/namespaces/x/configmaps?dryRun=All', {
      token: 'admin',
      body: '{"spec":1}',
      headers: {
        'user-agent': 'test/1',
        'audit-id': 'id-1',
        'impersonate-user': 'jane',
        'impersonate-group': 'system:masters',
      },
    }),
  );
  assert.deepEqual(
    events.map((event) => event['stage']),
    ['RequestReceived', 'ResponseComplete'],
  );
  const { requestReceivedTimestamp, stageTimestamp, sourceIPs, ...rest } = events[1] ?? {};
  assert.match(String(requestReceivedTimestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.ok(String(stageTimestamp) >= String(requestReceivedTimestamp));
  assert.deepEqual(sourceIPs, ['127.0.0.1']);
  assert.deepEqual(rest, {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'RequestResponse',
    auditID: 'id-1',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/x/configmaps?dryRun=All',
    verb: 'create',
    user: { username: 'admin', uid: '1', groups: ['system:masters', 'system:authenticated'] },
    impersonatedUser: { username: 'jane', groups: ['system:masters', 'system:authenticated'] },
    userAgent: 'test/1',
    objectRef: { resource: 'configmaps', namespace: 'x', name: 'made', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestObject: { spec: 1 },
    responseObject: { name: 'made' },
    annotations: {
      'authorization.k8s.io/decision': 'allow',
      'authorization.k8s.io/reason': 'member of system:masters',
      'policies.example.com/why': 'because',
    },
  });
});

test('a refusal is logged too, one without bodies at its level', async (t) => {
  const events = await logged(t, async (server) => {
    await server.request('GET', '/api/v1/namespaces/x/configmaps/a', { token: 'bob' });
    await server.request('GET', '/api/v1/namespaces/x/configmaps/a', { token: 'nobody' });
  });
  const complete = events.filter((event) => event['stage'] === 'ResponseComplete');
  assert.equal(complete.length, 1, 'who is not known is not let in, and not logged');
  assert.deepEqual(complete[0]?.['responseStatus'], { metadata: {}, code: 403 });
  assert.deepEqual(complete[0]['annotations'], {
    'authorization.k8s.io/decision': 'forbid',
    'authorization.k8s.io/reason': '',
  });
  assert.equal(complete[0]['responseObject'], undefined);
});
