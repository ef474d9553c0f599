/**
 * The API server behind a real kube-apiserver: `npm run test:cluster`. The folder KUBEBUILDER_ASSETS has its programs; without it
 * everything is skipped.
 */
import { after, before, describe, test } from 'node:test';
import { findAssets, type Assets } from './assets.js';
import { KubernetesCluster, type Store } from './cluster.js';
import { admissionSuite } from './suites/admission.js';
import { aggregationSuite } from './suites/aggregation.js';
import { auditSuite } from './suites/audit.js';
import { authorizationSuite } from './suites/authorization.js';
import { controllersSuite } from './suites/controllers.js';
import { expressionsSuite } from './suites/expressions.js';
import { kubectlSuite } from './suites/kubectl.js';
import { mutatingPoliciesSuite } from './suites/mutating-policies.js';
import { policiesSuite } from './suites/policies.js';
import { rotationSuite } from './suites/rotation.js';
import { streamsSuite } from './suites/streams.js';
import { conformanceSuite } from '../../conformance/suite.js';

const assets = findAssets();
if (typeof assets === 'string') test('behind kube-apiserver', { skip: assets }, () => undefined);
else for (const store of ['level', 'etcd'] as const) suite(assets, store);

function suite(assets: Assets, store: Store): void {
  describe(`behind kube-apiserver, on ${store}`, () => {
    let started: KubernetesCluster;
    const cluster = (): KubernetesCluster => started;
    before(async () => {
      started = await KubernetesCluster.start(assets, store);
    });
    after(() => started.close());

    aggregationSuite(cluster);
    kubectlSuite(cluster);
    authorizationSuite(cluster);
    admissionSuite(cluster);
    policiesSuite(cluster);
    if (store === 'level') expressionsSuite(cluster);
    mutatingPoliciesSuite(cluster);
    streamsSuite(cluster);
    auditSuite(cluster);
    controllersSuite(cluster, assets.kubeControllerManager !== undefined);
    describe('recorded cases', () => {
      conformanceSuite(() =>
        Promise.resolve({
          port: started.port,
          ca: started.ca,
          token: 'admin',
          close: () => Promise.resolve(),
        }),
      );
    });
    rotationSuite(cluster);
  });
}
