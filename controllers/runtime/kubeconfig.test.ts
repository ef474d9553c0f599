import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ConfigurationError } from './errors.js';
import { inClusterConnection, loadConnection, loadKubeconfig } from './kubeconfig.js';
import { FakeClock } from './testing/fake-clock.js';

async function directory(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function kubeconfig(user: string): string {
  return `apiVersion: v1
kind: Config
current-context: one
contexts:
- name: one
  context: { cluster: c, user: u, namespace: team }
- name: other
  context: { cluster: missing, user: u }
clusters:
- name: c
  cluster: { server: "https://host:6443", certificate-authority-data: ${base64('CA')}, tls-server-name: api }
users:
- name: u
  user: ${user}
`;
}

test('inline data and files are read, relative to the kubeconfig', async (t) => {
  const user = `{ client-certificate-data: ${base64('CERT')}, client-key: key.pem }`;
  const path = await directory(t, { config: kubeconfig(user), 'key.pem': 'KEY' });
  const connection = await loadKubeconfig(join(path, 'config'));
  assert.equal(connection.server, 'https://host:6443');
  assert.equal(connection.serverName, 'api');
  assert.equal(connection.namespace, 'team');
  const { ca, cert, key, authorization } = await connection.credentials();
  assert.deepEqual(
    { ca, cert, key, authorization },
    {
      ca: 'CA',
      cert: 'CERT',
      key: 'KEY',
      authorization: undefined,
    },
  );
});

test('a token file is read again when it is a minute old; until then and if it is unchanged nothing changes', async (t) => {
  const clock = new FakeClock();
  const path = await directory(t, { config: kubeconfig('{ tokenFile: token }'), token: 'first\n' });
  const { credentials } = await loadKubeconfig(join(path, 'config'), undefined, clock);
  const first = await credentials();
  assert.equal(first.authorization, 'Bearer first');
  await writeFile(join(path, 'token'), 'second\n');
  assert.equal(await credentials(), first);
  await clock.advance(60_001);
  const second = await credentials();
  assert.equal(second.authorization, 'Bearer second');
  await clock.advance(60_001);
  assert.equal(await credentials(), second);
});

test('user and password become basic authentication; impersonation is kept', async (t) => {
  const user = '{ username: me, password: word, as: you, as-groups: [a, b] }';
  const path = await directory(t, { config: kubeconfig(user) });
  const { authorization, impersonate } = await (await loadKubeconfig(join(path, 'config'))).credentials();
  assert.equal(authorization, `Basic ${base64('me:word')}`);
  assert.deepEqual(impersonate, { user: 'you', groups: ['a', 'b'] });
});

test('credential plugins are run', async (t) => {
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'from-plugin' },
  };
  const user = JSON.stringify({
    exec: {
      apiVersion: credential.apiVersion,
      command: process.execPath,
      args: ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`],
      interactiveMode: 'Never',
    },
  });
  const path = await directory(t, { config: kubeconfig(user) });
  const { ca, authorization } = await (await loadKubeconfig(join(path, 'config'))).credentials();
  assert.equal(authorization, 'Bearer from-plugin');
  assert.equal(ca, 'CA');
});

for (const [what, text, message] of [
  ['is not YAML', 'a: [', /is not YAML/],
  ['is empty', '', /is not a kubeconfig/],
  ['has no context', 'clusters: []', /current-context is not set/],
  ['lacks its context', 'current-context: x', /contexts has no entry named "x"/],
] as const)
  test(`a kubeconfig that ${what} is refused`, async (t) => {
    const path = await directory(t, { config: text });
    await assert.rejects(loadKubeconfig(join(path, 'config')), (error) => {
      assert.ok(error instanceof ConfigurationError);
      assert.match(error.message, message);
      return true;
    });
  });

test('a context whose cluster is missing is refused by name', async (t) => {
  const path = await directory(t, { config: kubeconfig('{}') });
  await assert.rejects(
    loadKubeconfig(join(path, 'config'), 'other'),
    /clusters has no entry named "missing"/,
  );
});

test('a missing file is named', async () => {
  await assert.rejects(loadKubeconfig('/nonexistent/config'), /can not read \/nonexistent\/config/);
});

test('in a pod its service account is used', async (t) => {
  const path = await directory(t, { 'ca.crt': 'CA', token: 'T', namespace: 'ns\n' });
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
  const connection = await inClusterConnection(environment, path);
  assert.equal(connection.server, 'https://[fd00::1]:6443');
  assert.equal(connection.namespace, 'ns');
  assert.deepEqual(await connection.credentials(), { ca: 'CA', authorization: 'Bearer T' });
});

test('KUBECONFIG is used if no path is given', async (t) => {
  const path = await directory(t, { config: kubeconfig('{ token: abc }') });
  const connection = await loadConnection(undefined, { KUBECONFIG: `${join(path, 'config')}:/other` });
  assert.equal((await connection.credentials()).authorization, 'Bearer abc');
});
