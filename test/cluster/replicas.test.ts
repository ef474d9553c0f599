/** Two API servers over one etcd: what one has acknowledged the other shows, and what one has begun the other goes on with. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Apiserver } from '../../deploy/apiserver/apiserver.js';
import { isExpired } from '../../controllers/runtime/errors.js';
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import { virtualMachinePreferences as kind } from '../../controllers/runtime/kinds.js';
import type { VirtualMachinePreference } from '../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type { New, ObjectList } from '../../openapi/meta.js';
import { etcdMissing, startEtcd, type EtcdCluster } from '../../storage/testing/etcd-server.js';
import { requestOf, type Answer } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startReplica, startSurroundings, type Surroundings } from './cluster.js';

const path = '/apis/instancetype.kubevirt.io/v1beta1/namespaces/default/virtualmachinepreferences';
const namespace = 'default';
const preference = (name: string): New<VirtualMachinePreference> => ({
  apiVersion: 'instancetype.kubevirt.io/v1beta1',
  kind: 'VirtualMachinePreference',
  metadata: { name, namespace },
  spec: {},
});

describe('two API servers over one etcd', { skip: etcdMissing() ?? false }, () => {
  let etcd: EtcdCluster;
  let surroundings: Surroundings;
  const replicas: Apiserver[] = [];
  const clients: HttpClient[] = [];

  before(async () => {
    etcd = await startEtcd();
    surroundings = await startSurroundings();
    const credentials = { ca: surroundings.ca, ...surroundings.issue('test', 'client', 'system:masters') };
    for (let i = 0; i < 2; i++) {
      const replica = await startReplica(surroundings, ['--etcd-servers', etcd.members[0]?.endpoint ?? '']);
      replicas.push(replica);
      clients.push(
        createHttpClient({
          server: `https://localhost:${replica.port}`,
          credentials: () => Promise.resolve(credentials),
          userAgent: 'test',
        }),
      );
    }
  });

  after(async () => {
    for (const client of clients) client.close();
    for (const replica of replicas) await replica.stop();
    await surroundings.close();
    await etcd.stop();
  });

  const pair = (): [HttpClient, HttpClient] => {
    const [one, other] = clients;
    assert.ok(one && other);
    return [one, other];
  };
  const names = ({ items }: ObjectList<VirtualMachinePreference>): string[] =>
    items.map(({ metadata }) => metadata.name);

  test('whoever asks for the newest sees what was written through the other, at once', async () => {
    const [one, other] = pair();
    for (let i = 0; i < 20; i++) {
      const name = `fresh-${i}`;
      const created = await one.create(kind, preference(name));
      const [found, list] = await Promise.all([
        other.get(kind, { name, namespace }),
        other.list(kind, { namespace }),
      ]);
      assert.equal(found.metadata.resourceVersion, created.metadata.resourceVersion);
      assert.ok(names(list).includes(name));
      await other.patch(
        kind,
        { name, namespace },
        { type: 'merge', body: { metadata: { labels: { seen: 'yes' } } } },
      );
      assert.equal((await one.get(kind, { name, namespace })).metadata.labels?.['seen'], 'yes');
      await one.delete(kind, { name, namespace });
      assert.ok(!names(await other.list(kind, { namespace })).includes(name));
    }
  });

  test('a write on top of what the other has replaced is a conflict', async () => {
    const [one, other] = pair();
    const created = await one.create(kind, preference('contested'));
    const labelled = (label: string): VirtualMachinePreference => ({
      ...created,
      metadata: { ...created.metadata, labels: { label } },
    });
    const outcomes = await Promise.allSettled([
      one.update(kind, labelled('one')),
      other.update(kind, labelled('other')),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await one.delete(kind, { name: 'contested', namespace });
  });

  test('a watch goes on at the other, from the revision that the first told last', async () => {
    const [one, other] = pair();
    const { metadata } = await one.list(kind, { namespace });
    let position = metadata.resourceVersion ?? '';
    const told: string[] = [];
    const expected: string[] = [];
    for (let i = 0; i < 6; i++) {
      const [here, there] = i % 2 === 0 ? [one, other] : [other, one];
      const name = `watched-${i}`;
      await there.create(kind, preference(name));
      await here.delete(kind, { name, namespace });
      expected.push(`ADDED ${name}`, `DELETED ${name}`);
      for await (const event of here.watch(kind, { namespace, resourceVersion: position })) {
        if (event.type === 'BOOKMARK') continue;
        position = event.object.metadata.resourceVersion;
        told.push(`${event.type} ${event.object.metadata.name}`);
        if (told.length === expected.length) break;
      }
    }
    assert.deepEqual(told, expected);
  });

  test('pages of one list may come from both', async () => {
    const [one, other] = pair();
    const all = Array.from({ length: 6 }, (_, i) => `paged-${i}`);
    for (const name of all) await one.create(kind, preference(name));
    const first = await one.list(kind, { namespace, limit: 2 });
    // What comes later is in no page of a list that was begun before.
    await one.create(kind, preference('paged-2-late'));
    const found = names(first);
    for (let next = first.metadata.continue; next !== '';) {
      const page: ObjectList<VirtualMachinePreference> = await other.list(kind, {
        namespace,
        limit: 2,
        continue: next,
      });
      assert.equal(page.metadata.resourceVersion, first.metadata.resourceVersion);
      found.push(...names(page));
      next = page.metadata.continue ?? '';
    }
    assert.deepEqual(found, all);
  });

  test('while the store is down, nobody gets an empty list: 503 says why, and readiness too; then all goes on', async () => {
    const [one] = pair();
    const [replica] = replicas;
    const [member] = etcd.members;
    assert.ok(replica && member);
    const get = (where: string): Promise<Answer> =>
      requestOf({ port: replica.port, ca: surroundings.ca })('GET', where, { token: 'admin' });
    const ready = await get('/readyz?verbose');
    assert.equal(ready.status, 200);
    for (const name of ['storage', 'watch-cache', 'request-header-ca', 'shutdown'])
      assert.ok(ready.text.includes(`[+]${name} ok`), `${name} in ${ready.text}`);
    await one.create(kind, preference('kept'));
    await member.kill();
    for (const where of [path, `${path}/kept`, `${path}/none`, `${path}?limit=1`]) {
      const answer = await get(where);
      const { kind: answered, reason, message } = answer.json();
      assert.deepEqual(
        [where, answer.status, answered, reason],
        [where, 503, 'Status', 'ServiceUnavailable'],
      );
      assert.match(message ?? '', /^the storage is not available: /);
    }
    await assert.rejects(
      async () => {
        const params = { namespace, resourceVersion: '' };
        for await (const event of one.watch(kind, params, AbortSignal.timeout(20_000)))
          assert.fail(event.type);
      },
      { code: 503 },
    );
    await assert.rejects(one.create(kind, preference('refused')), { code: 503 });
    await assert.rejects(one.delete(kind, { name: 'kept', namespace }), { code: 503 });
    // Whoever takes what is at hand is served from memory.
    assert.equal((await get(`${path}/kept?resourceVersion=0`)).status, 200);
    assert.match(
      (await get('/readyz')).text,
      /\[-\]storage failed: reason withheld\n\[-\]watch-cache failed/,
    );
    assert.equal((await get('/livez')).status, 200);
    await member.restart();
    await eventually('it is ready again', async () =>
      (await get('/readyz')).status === 200 ? true : undefined,
    );
    assert.ok(names(await one.list(kind, { namespace })).includes('kept'));
    await one.create(kind, preference('afterwards'));
  });

  test('a revision that is compacted is told as expired by both', async () => {
    const [one, other] = pair();
    const { metadata } = await one.list(kind, { namespace });
    const response = await fetch(`${etcd.members[0]?.endpoint ?? ''}/v3/kv/compaction`, {
      method: 'POST',
      body: JSON.stringify({ revision: metadata.resourceVersion }),
    });
    assert.ok(response.ok);
    for (const client of [one, other]) {
      await assert.rejects(async () => {
        for await (const event of client.watch(kind, { namespace, resourceVersion: '1' }))
          assert.fail(event.type);
      }, isExpired);
    }
  });
});
