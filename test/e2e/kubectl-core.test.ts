/**
 * The everyday commands for core kinds, by each kubectl that is supported: old ones send JSON, new ones protobuf. What they
 * made is read back by the server's own admin, as JSON.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Cluster, command } from './harness.js';

const tools = path.resolve(import.meta.dirname, '../../build/tools');
const versions = ['v1.30', 'v1.35', 'v1.36'] as const;

class Kubectl {
  constructor(
    private readonly cluster: Cluster,
    private readonly version: string,
    private readonly namespace?: string,
  ) {}

  /** Must succeed, and warn of nothing. */
  async run(line: string, { input, editor }: { input?: unknown; editor?: string } = {}): Promise<string> {
    const args = [
      ...['--kubeconfig', this.cluster.kubeconfig],
      ...['--cache-dir', path.join(this.cluster.dataDirectory, `cache-${this.version}`)],
      ...(this.namespace === undefined ? [] : ['--namespace', this.namespace]),
    ];
    const { code, stdout, stderr } = await command(
      path.join(tools, `kubectl-${this.version}`),
      [...args, ...line.split(' ')],
      {
        ...(input === undefined ? {} : { input: JSON.stringify(input) }),
        ...(editor === undefined ? {} : { env: { ...process.env, KUBE_EDITOR: editor } }),
      },
    );
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, `kubectl-${this.version} ${line}: ${stdout}`);
    return stdout;
  }

  async json(line: string): Promise<unknown> {
    return JSON.parse(await this.run(`${line} -o json`));
  }
}

/** Creates the objects, and checks what the server holds of each. */
async function creates(kubectl: Kubectl, name: string): Promise<void> {
  await kubectl.run(`create namespace ${name}`);
  await kubectl.run('create configmap settings --from-literal=a=1');
  await kubectl.run('create secret generic key --from-literal=token=abc');
  await kubectl.run('create serviceaccount robot');
  await kubectl.run('create quota limits --hard=cpu=1500m,memory=1Gi');
  await kubectl.run('create poddisruptionbudget budget --selector=a=b --min-available=0');
  await kubectl.run('create service clusterip web --tcp=80:8080');
  await kubectl.run('create role reader --verb=get,list --resource=vms');
  await kubectl.run(`create rolebinding reader --role=reader --serviceaccount=${name}:robot`);
  await kubectl.run(`create clusterrole ${name} --verb=get --resource=vms`);
  await kubectl.run(`create clusterrolebinding ${name} --clusterrole=${name} --user=jane`);
  await kubectl.run(`create priorityclass ${name} --value=-5`);
  await kubectl.run('label configmap settings tier=front');
  await kubectl.run('annotate configmap settings note=hello');
}

interface Held {
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

const port = { name: '80-8080', port: 80, protocol: 'TCP', targetPort: 8080 };
const machines = { apiGroups: ['kubevirt.io'], resources: ['virtualmachines'] };

/** What must be found in each object. */
const expected = (name: string): Readonly<Record<string, object>> => ({
  ConfigMap: { data: { a: '1' } },
  Secret: { data: { token: 'YWJj' }, type: 'Opaque' },
  ServiceAccount: {},
  ResourceQuota: { spec: { hard: { cpu: '1500m', memory: '1Gi' } } },
  PodDisruptionBudget: { spec: { minAvailable: 0, selector: { matchLabels: { a: 'b' } } } },
  Service: { spec: { ports: [port] } },
  Role: { rules: [{ ...machines, verbs: ['get', 'list'] }] },
  RoleBinding: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: name }],
  },
  ClusterRole: { rules: [{ ...machines, verbs: ['get'] }] },
  ClusterRoleBinding: {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  },
  PriorityClass: { value: -5 },
});

/** The members of objects that `like` has too. */
function cut(value: unknown, like: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null || typeof like !== 'object' || like === null) return value;
  const wanted = new Map(Object.entries(like));
  const kept = Object.entries(value).filter(([name]) => wanted.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, cut(member, wanted.get(name))]));
}

async function holds(kubectl: Kubectl, name: string): Promise<void> {
  const named = `clusterrole/${name} clusterrolebinding/${name} priorityclass/${name}`;
  const { items } = (await kubectl.json(
    'get configmap/settings secret/key serviceaccount/robot quota/limits poddisruptionbudget/budget service/web ' +
      `role/reader rolebinding/reader ${named}`,
  )) as { items: Held[] };
  const wanted = expected(name);
  assert.deepEqual(items.map(({ kind }) => kind).sort(), Object.keys(wanted).sort());
  for (const item of items) assert.deepEqual(cut(item, wanted[item.kind]), wanted[item.kind], item.kind);
  const settings = items.find(({ kind }) => kind === 'ConfigMap');
  assert.deepEqual(settings?.metadata['labels'], { tier: 'front' });
  assert.deepEqual(settings.metadata['annotations'], { note: 'hello' });
}

async function asksWhoItIs(kubectl: Kubectl, name: string): Promise<void> {
  assert.equal(await kubectl.run('auth can-i create vms'), 'yes\n');
  assert.equal(await kubectl.run('auth can-i get vms --as=jane'), 'yes\n');
  const robot = `--as=system:serviceaccount:${name}:robot`;
  assert.equal(await kubectl.run(`auth can-i list vms ${robot}`), 'yes\n');
  assert.match(
    await kubectl.run(`auth can-i --list ${robot}`),
    /virtualmachines\.kubevirt\.io .*\[get list\]/,
  );
  assert.match(await kubectl.run('auth whoami'), /^Username +admin$/m);
}

interface Applied {
  readonly data?: unknown;
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly targetPort?: unknown }[] };
}

/** Everything here is sent as a strategic merge patch. */
async function changes(kubectl: Kubectl): Promise<void> {
  const dataOf = async (name: string): Promise<unknown> =>
    ((await kubectl.json(`get configmap ${name}`)) as Applied).data;
  const applied = (data: object): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'applied' },
    data,
  });
  assert.equal(
    await kubectl.run('apply -f -', { input: applied({ a: '1', b: '1' }) }),
    'configmap/applied created\n',
  );
  const changed = applied({ a: '2', c: '1' });
  assert.equal(await kubectl.run('apply -f -', { input: changed }), 'configmap/applied configured\n');
  assert.equal(await kubectl.run('apply -f -', { input: changed }), 'configmap/applied unchanged\n');
  assert.deepEqual(await dataOf('applied'), { a: '2', c: '1' });

  assert.equal(
    await kubectl.run('patch configmap applied -p {"data":{"a":"3","c":null}}'),
    'configmap/applied patched\n',
  );
  assert.deepEqual(await dataOf('applied'), { a: '3' });
  assert.equal(
    await kubectl.run('edit configmap applied', { editor: 'sed -i s/a:.*3.*/a:\\ edited/' }),
    'configmap/applied edited\n',
  );
  assert.deepEqual(await dataOf('applied'), { a: 'edited' });

  await kubectl.run('set subject rolebinding reader --user=jane');
  const { subjects } = (await kubectl.json('get rolebinding reader')) as { subjects: { name: string }[] };
  assert.deepEqual(subjects.map((subject) => subject.name).sort(), ['jane', 'robot']);
}

/** Lists of an applied object: what leaves the file leaves the object. */
async function changesLists(kubectl: Kubectl): Promise<void> {
  const named = (name: string, ports: readonly object[]): object => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { a: 'b' }, ports },
  });
  const http = { name: 'http', port: 80, targetPort: 8080 };
  const https = { name: 'https', port: 443, targetPort: 8443 };
  const admin = { name: 'admin', port: 9000, targetPort: 9000 };
  await kubectl.run('apply -f -', { input: named('applied', [http, https]) });
  const input = named('applied', [admin, { ...http, targetPort: 8081 }]);
  assert.equal(await kubectl.run('apply -f -', { input }), 'service/applied configured\n');
  const { spec } = (await kubectl.json('get service applied')) as Applied;
  assert.deepEqual(
    spec?.ports?.map(({ name, targetPort }) => [name, targetPort]),
    [
      ['admin', 9000],
      ['http', 8081],
    ],
  );
}

async function everyday(t: TestContext, cluster: Cluster, version: string): Promise<void> {
  const name = `team-${version.replace('v1.', '')}`;
  const kubectl = new Kubectl(cluster, version, name);
  await t.test('creates core kinds', () => creates(kubectl, name));
  await t.test('which the server then holds', () => holds(kubectl, name));
  await t.test('changes them in part', () => changes(kubectl));
  await t.test('and items of their lists', () => changesLists(kubectl));
  await t.test('asks what it may, and who it is', () => asksWhoItIs(kubectl, name));
  await t.test('and deletes', async () => {
    await kubectl.run('delete configmap/settings configmap/applied secret/key service/web service/applied');
    // With --namespace, kubectl itself would warn.
    await new Kubectl(cluster, version).run(`delete namespace ${name} --timeout=60s`);
  });
}

test('core kinds by kubectl', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers=namespace'] });
  for (const version of versions)
    await t.test(`kubectl ${version}`, (each) => everyday(each, cluster, version));
});
