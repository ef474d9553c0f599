import { after, describe, test, type TestContext } from 'node:test';
import { pino } from 'pino';
import type { BackendFixture } from '../testing/backend-fixture.js';
import { backendSuite } from '../testing/backend-suite.js';
import { etcdMissing, startEtcd, type EtcdCluster } from '../testing/etcd-server.js';
import { storeSuite } from '../testing/store-suite.js';
import { openEtcdBackend } from './backend.js';

const logger = pino({ level: 'silent' });
const missing = etcdMissing();

if (missing === undefined) {
  describe('with etcd', () => {
    let cluster: Promise<EtcdCluster> | undefined;
    let roots = 0;
    const open = async (t: TestContext): Promise<BackendFixture> => {
      cluster ??= startEtcd();
      const { members } = await cluster;
      const backend = await openEtcdBackend({
        endpoints: members.map(({ endpoint }) => endpoint),
        root: `/test-${roots++}`,
        logger,
        compactionMilliseconds: 0,
      });
      t.after(() => backend.close());
      // Leases end by the clock of etcd: whoever waits for an end waits for its event.
      return { backend, passSeconds: () => Promise.resolve() };
    };
    after(async () => {
      await (await cluster)?.stop();
    });
    backendSuite('etcd', open, { runs: 10, many: 1000 });
    storeSuite('etcd', open, { runs: 10 });
  });
} else {
  test('etcd', { skip: missing }, () => undefined);
}
