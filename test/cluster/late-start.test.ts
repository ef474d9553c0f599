/** What an API server needs may come after it: it waits, unready, and says for what. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { startApiserver } from '../../deploy/apiserver/apiserver.js';
import { parseApiserverOptions } from '../../deploy/apiserver/options.js';
import type { ConfigMap } from '../../openapi/generated/types/core_v1.js';
import { etcdMissing, startEtcd } from '../../storage/testing/etcd-server.js';
import { startTcpProxy } from '../../storage/testing/tcp-proxy.js';
import { requestOf } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startSurroundings } from './cluster.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const maps = { group: '', resource: 'configmaps', namespace: 'kube-system' };
const name = 'extension-apiserver-authentication';

test(
  'etcd without a leader, a silent kube-apiserver and a missing config map are waited for',
  {
    skip: etcdMissing() ?? false,
  },
  async (t) => {
    const surroundings = await startSurroundings();
    t.after(() => surroundings.close());
    const { core, directory, apiserverFlags, ca } = surroundings;
    const line = await startTcpProxy(core.port);
    t.after(() => line.close());
    line.cut();
    const kubeconfig = path.join(directory, 'late.kubeconfig');
    const direct = await readFile(path.join(directory, 'kubeconfig'), 'utf8');
    await writeFile(kubeconfig, direct.replace(`:${core.port}`, `:${line.port}`));
    const map = await core.registry.get<ConfigMap>({ ...maps, name });
    assert.ok(map);
    await core.registry.delete({ ...maps, name }, {}, { user: admin });
    const etcd = await startEtcd({ size: 2 });
    t.after(() => etcd.stop());
    const [one, other] = etcd.members;
    assert.ok(one && other);
    await other.kill();

    const options = parseApiserverOptions([
      ...apiserverFlags,
      ...['--kubeconfig', kubeconfig, '--etcd-servers', one.endpoint],
    ]);
    assert.ok(options);
    const said: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(line) });
    const apiserver = await startApiserver(options, logger);
    t.after(() => apiserver.stop());
    const request = requestOf({ port: apiserver.port, ca });
    const failing = async (): Promise<readonly string[]> =>
      Array.from(
        (await request('GET', '/readyz')).text.matchAll(/^\[-\](\S+) failed/gm),
        ([, check = '']) => check,
      );
    const fails = (...checks: string[]): Promise<true> =>
      eventually(`unready for ${checks.join()}`, async () => (await failing()).join() === checks.join(), 60);

    await fails('request-header-ca', 'informer-sync', 'storage', 'watch-cache');
    assert.equal((await request('GET', '/livez')).status, 200);
    const refused = await request('GET', '/apis/kubevirt.io/v1', { token: 'admin' });
    assert.deepEqual([refused.status, refused.json().reason], [503, 'ServiceUnavailable']);
    assert.match(refused.json().message ?? '', /^the server is starting: /);

    await other.restart();
    await fails('request-header-ca', 'informer-sync');
    line.mend();
    const { apiVersion, kind, data = {} } = map;
    const metadata = { name, namespace: maps.namespace };
    await core.registry.create<ConfigMap>(maps, { apiVersion, kind, metadata, data }, { user: admin });
    await apiserver.ready;
    await eventually('ready', async () => (await request('GET', '/readyz')).status === 200);
    const served = await request('GET', '/apis/kubevirt.io/v1/virtualmachines', { token: 'admin' });
    assert.equal(served.status, 200, served.text);
    assert.ok(
      !said.some((line) => line.includes('can not be followed')),
      'nobody asks a store that is not open',
    );
  },
);
