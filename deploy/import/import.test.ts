import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { stringify } from 'yaml';
import { kubevirtResources } from '../../apiserver/resources/index.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { openEtcdBackend } from '../../storage/etcd/backend.js';
import type { Backend } from '../../storage/interface.js';
import { createMemoryBackend } from '../../storage/memory/backend.js';
import { forward } from '../../storage/testing/backend-fixture.js';
import { etcdMissing, startEtcd, type EtcdCluster } from '../../storage/testing/etcd-server.js';
import { makeDirectory, openLevel, silent } from '../../storage/testing/level-directory.js';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { clusterSource } from './cluster-source.js';
import { DumpError, dumpSource } from './dump.js';
import { runImport, type Count, type ImportReport } from './import.js';
import { Journal } from './journal.js';
import { formatReport } from './report.js';
import type { Source } from './source.js';

const definitions = loadDefinitions();
const nothing: Count = { found: 0, written: 0, unchanged: 0, failed: 0, different: 0, extra: 0 };

type Json = KubernetesObject & Record<string, unknown>;

/** As another server has made it, with everything by which others know it. */
function machine(name: string, more: object = {}): Json {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '4711',
      creationTimestamp: '2024-03-01T10:00:00Z',
      generation: 7,
      labels: { app: 'db' },
      finalizers: ['kubevirt.io/virtualMachineControllerFinalize'],
      ownerReferences: [
        { apiVersion: 'pool.kubevirt.io/v1beta1', kind: 'VirtualMachinePool', name: 'p', uid: 'pool-uid' },
      ],
      managedFields: [
        {
          manager: 'virtctl',
          operation: 'Update',
          apiVersion: 'kubevirt.io/v1',
          time: '2024-03-01T10:00:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:runStrategy': {} } },
        },
      ],
    },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    status: { created: false, printableStatus: 'Stopped', observedGeneration: 7 },
    ...more,
  };
}

function instancetype(name: string): Json {
  return {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    metadata: {
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '5',
      creationTimestamp: '2024-03-01T10:00:00Z',
      generation: 1,
    },
    spec: { cpu: { guest: 2 }, memory: { guest: '2Gi' } },
  };
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default', uid: 'x' } };
const many = Array.from({ length: 1200 }, (_, index) => machine(`vm-${String(index).padStart(4, '0')}`));

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-import-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

interface Run {
  readonly report: ImportReport;
  readonly remarks: readonly string[];
  readonly count: (plural: string) => Count | undefined;
}

async function importFrom(
  source: Source,
  backend: Backend,
  state: string,
  signal = new AbortController().signal,
): Promise<Run> {
  const journal = await Journal.open(state);
  const remarks: string[] = [];
  try {
    const resources = kubevirtResources;
    const remark = (line: string): void => void remarks.push(line);
    const report = await runImport({ source, backend, journal, definitions, resources, signal, remark });
    return {
      report,
      remarks,
      count: (plural) => [...report.counts].find(([resource]) => resource.plural === plural)?.[1],
    };
  } finally {
    await journal.close();
  }
}

/** Serves the lists of custom resources, in pages, as a cluster does; others are not there. */
async function startCluster(t: TestContext, objects: () => readonly Json[]) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://cluster');
    const [, , group, version, plural] = url.pathname.split('/');
    const resource = kubevirtResources.find((each) => each.group === group && each.plural === plural);
    const served = objects().filter(
      (each) => each.apiVersion === `${group}/${version}` && each.kind === resource?.kind,
    );
    if (served.length === 0) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound' }));
      return;
    }
    const start = Number(url.searchParams.get('continue') ?? '0');
    const end = start + Number(url.searchParams.get('limit'));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        kind: `${resource?.kind ?? ''}List`,
        metadata: { resourceVersion: '9', ...(end < served.length ? { continue: String(end) } : {}) },
        items: served.slice(start, end),
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createHttpClient({
    server: `http://127.0.0.1:${port}`,
    credentials: () => Promise.resolve({}),
  });
  t.after(() => {
    client.close();
    server.close();
  });
  return clusterSource(client, kubevirtResources);
}

function storeTests(name: string, open: (t: TestContext) => Promise<Backend>): void {
  test(`${name}: from a dump, and served as it was`, async (t) => {
    const directory = await scratch(t);
    const dump = path.join(directory, 'dump');
    await mkdir(path.join(dump, 'more'), { recursive: true });
    const list = { apiVersion: 'v1', kind: 'List', items: [machine('a'), machine('b'), pod] };
    await writeFile(
      path.join(dump, 'vms.yaml'),
      `${stringify(list)}---\n${stringify(instancetype('small'))}---\n`,
    );
    const typed = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineList', items: [machine('c')] };
    await writeFile(path.join(dump, 'more', 'c.json'), JSON.stringify(typed));
    await writeFile(path.join(dump, 'notes.txt'), 'not read');
    const backend = await open(t);
    const source = dumpSource(dump, kubevirtResources);
    const state = path.join(directory, 'state');
    const first = await importFrom(source, backend, state);
    assert.deepEqual(first.remarks, []);
    assert.ok(first.report.complete);
    assert.deepEqual(first.count('virtualmachines'), { ...nothing, found: 3, written: 3 });
    assert.deepEqual(first.count('virtualmachineclusterinstancetypes'), { ...nothing, found: 1, written: 1 });
    assert.deepEqual([...first.report.foreign], [['Pod.', 1]]);
    assert.match(formatReport(first.report), /virtualmachines\.kubevirt\.io +3 +3 +0 +0 +0 +0\n/);
    assert.match(formatReport(first.report), /Pod\.: 1 left out[\s\S]*automanaged/);
    // Another dump of the same, in another order, by somebody who has lost the state.
    await writeFile(path.join(dump, 'more', 'c.json'), JSON.stringify(reversed(typed)));
    const second = await importFrom(source, backend, `${state}.new`);
    assert.deepEqual(second.count('virtualmachines'), { ...nothing, found: 3, unchanged: 3 });

    const server = await startNativeServer({ backend });
    t.after(() => server.close());
    const target = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: 'default', name: 'a' };
    const served = await server.registry.get(target);
    const expected = machine('a');
    assert.notEqual(served?.metadata.resourceVersion, expected.metadata.resourceVersion);
    assert.deepEqual(
      { ...served, metadata: { ...served?.metadata, resourceVersion: '4711' } },
      JSON.parse(JSON.stringify(expected)),
    );
  });
}

storeTests('level', async (t) => openLevel(t, { directory: await makeDirectory(t) }));
const missing = etcdMissing();
if (missing === undefined) {
  describe('with etcd', () => {
    let cluster: Promise<EtcdCluster> | undefined;
    after(async () => (await cluster)?.stop());
    storeTests('etcd', async (t) => {
      cluster ??= startEtcd();
      const endpoints = (await cluster).members.map(({ endpoint }) => endpoint);
      const backend = await openEtcdBackend({ endpoints, root: '/import', logger: silent });
      t.after(() => backend.close());
      return backend;
    });
  });
} else {
  test('etcd', { skip: missing }, () => undefined);
}

test('from a cluster, in pages, in the version that it serves', async (t) => {
  const snapshot: Json = {
    ...machine('s'),
    apiVersion: 'snapshot.kubevirt.io/v1alpha1',
    kind: 'VirtualMachineSnapshot',
    spec: { source: { kind: 'VirtualMachine', name: 'a', apiGroup: 'kubevirt.io' } },
    status: { readyToUse: true },
  };
  const source = await startCluster(t, () => [...many, snapshot]);
  const backend = createMemoryBackend();
  const { report, count } = await importFrom(source, backend, path.join(await scratch(t), 'state'));
  assert.ok(report.complete);
  assert.equal(count('virtualmachines')?.written, many.length);
  assert.equal(count('virtualmachinesnapshots')?.written, 1);
});

test('is stopped in the middle, and goes on; what changed since comes along', async (t) => {
  const objects = [...many];
  const source = await startCluster(t, () => objects);
  const backend = createMemoryBackend();
  const state = path.join(await scratch(t), 'state');
  const stop = new AbortController();
  let writes = 0;
  const dying: Backend = {
    ...forward(backend),
    write: (write) => {
      writes += 1;
      return writes > 700 ? Promise.reject(new Error('the disk is gone')) : backend.write(write);
    },
  };
  await assert.rejects(importFrom(source, dying, state, stop.signal), /disk is gone/);
  objects[0] = machine('vm-0000', { spec: { ...(many[0]?.spec as object), runStrategy: 'Always' } });
  const { report, count } = await importFrom(source, backend, state);
  assert.ok(report.complete);
  assert.deepEqual(count('virtualmachines'), {
    ...nothing,
    found: many.length,
    written: many.length - 699,
    unchanged: 699,
  });
  stop.abort();
  await assert.rejects(importFrom(source, backend, state, stop.signal));
});

test('what somebody else has written is left alone, and told', async (t) => {
  const backend = createMemoryBackend();
  const state = path.join(await scratch(t), 'state');
  const objects = [machine('a'), machine('b')];
  const source = await startCluster(t, () => objects);
  await importFrom(source, backend, state);
  // A user is at work already, and somebody has made one that the source does not have.
  const key = '/kubevirt.io/virtualmachines/default/a';
  const { kv } = await backend.get(key);
  const changed = Buffer.from(kv?.value.toString().replace('"db"', '"web"') ?? '');
  await backend.write({ key, expect: kv?.modRevision ?? 0, value: changed });
  await backend.write({ key: '/kubevirt.io/virtualmachines/default/c', expect: 0, value: changed });
  const { report, remarks, count } = await importFrom(source, backend, state);
  assert.equal(report.complete, false);
  assert.deepEqual(count('virtualmachines'), {
    ...nothing,
    found: 2,
    unchanged: 1,
    failed: 1,
    different: 1,
    extra: 1,
  });
  assert.match(
    remarks.join('\n'),
    /default\/a: the store holds another object[\s\S]*default\/a: the store does not hold/,
  );
  assert.ok((await backend.get(key)).kv?.value.equals(changed));
  assert.match(formatReport(report), /Not everything is in the store/);
});

test('what our schema does not know or accept is told; what is no object of a server is refused', async (t) => {
  const bare = machine('bare');
  const objects = [
    machine('odd', {
      spec: { runStrategy: 'Halted', color: 'red', template: { spec: { domain: { devices: {} } } } },
    }),
    machine('wrong', { spec: { runStrategy: 'Halted', template: { spec: { domain: {} } } } }),
    { ...bare, metadata: { ...bare.metadata, uid: '' } },
  ];
  const source = await startCluster(t, () => objects);
  const run = await importFrom(source, createMemoryBackend(), path.join(await scratch(t), 'state'));
  assert.equal(run.report.complete, false);
  assert.equal(run.count('virtualmachines')?.written, 2);
  assert.equal(run.count('virtualmachines')?.failed, 1);
  const told = run.remarks.join('\n');
  assert.match(told, /default\/odd: spec\.color is not known and was left out/);
  assert.match(told, /default\/wrong: spec\.template\.spec\.domain\.devices: Required value/);
  assert.match(told, /default\/bare: metadata\.uid must be there/);
});

test('a dump that can not be read says which file', async (t) => {
  const directory = await scratch(t);
  const read = async (name: string, content: string): Promise<void> => {
    const file = path.join(directory, name);
    await writeFile(file, content);
    const objects = dumpSource(file, kubevirtResources).objects(new AbortController().signal);
    for await (const each of objects) assert.fail(each.kind);
  };
  await assert.rejects(read('a.json', '{'), /a\.json is not JSON/);
  await assert.rejects(read('b.yaml', 'a: [1\nb: }'), /b\.yaml is not YAML/);
  await assert.rejects(read('c.yaml', 'kind: List\nitems: []'), /c\.yaml, document 1: apiVersion and kind/);
  await assert.rejects(
    read('d.yaml', 'apiVersion: v1\nkind: List\nitems: [1]'),
    /document 1, item 1: not an object/,
  );
  const empty = path.join(directory, 'empty');
  await mkdir(empty);
  const objects = dumpSource(empty, kubevirtResources).objects(new AbortController().signal);
  await assert.rejects(objects[Symbol.asyncIterator]().next(), DumpError);
});
