/** The recorded cases through a front proxy, on each store. */
import { describe, test } from 'node:test';
import { etcdMissing, startEtcd } from '../../storage/testing/etcd-server.js';
import { conformanceSuite } from '../conformance/suite.js';
import { startCluster } from './cluster.js';

describe('on level', () => {
  conformanceSuite(async () => ({ ...(await startCluster()), token: 'admin' }));
});

const missing = etcdMissing();
if (missing === undefined) {
  describe('on etcd', () => {
    conformanceSuite(async () => {
      const etcd = await startEtcd();
      const endpoints = etcd.members.map(({ endpoint }) => endpoint).join(',');
      const cluster = await startCluster(['--etcd-servers', endpoints]);
      return {
        ...cluster,
        token: 'admin',
        async close() {
          await cluster.close();
          await etcd.stop();
        },
      };
    });
  });
} else {
  test('on etcd', { skip: missing }, () => undefined);
}
