import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import test from 'node:test';
import { isIssuedBy, isValidAt, parseBundle } from '../../apiserver/pki/bundle.js';
import {
  authoritiesConfigMap,
  certificateKeys,
  certificateSecrets,
  injectAuthoritiesLabel,
} from '../../openapi/certificates.js';
import { installationRules } from '../rbac.js';
import { configMaps, secrets } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { createCertificatesController } from './certificates-controller.js';
import { apiServices, mutatingWebhookConfigurations } from './kinds.js';

const namespace = 'kubevirt';
const hour = 3_600_000;
const label = { [injectAuthoritiesLabel]: 'true' };
const authorityOfLeaf = {
  [certificateSecrets.apiserver]: certificateSecrets.authority,
  [certificateSecrets.apiserverClient]: certificateSecrets.authority,
  [certificateSecrets.nodeAgent]: certificateSecrets.authority,
  [certificateSecrets.etcd]: certificateSecrets.etcdAuthority,
  [certificateSecrets.etcdClient]: certificateSecrets.etcdAuthority,
};

class Cluster extends Harness {
  begin(): Promise<void> {
    return this.start((deps) => createCertificatesController(deps, namespace));
  }

  value(name: string, key: string): string {
    const data = this.client.find(secrets, { namespace, name })?.data?.[key];
    assert.ok(data !== undefined, `${name} has ${key}`);
    return Buffer.from(data, 'base64').toString();
  }

  /** All that belongs together does, at this moment. */
  check(): void {
    for (const [leaf, authority] of Object.entries(authorityOfLeaf)) {
      const bundle = this.value(authority, certificateKeys.authorities);
      assert.equal(this.value(leaf, certificateKeys.authorities), bundle);
      const certificate = new X509Certificate(this.value(leaf, certificateKeys.certificate));
      assert.ok(isValidAt(certificate, this.clock.now()));
      assert.ok(parseBundle(bundle).some((each) => isIssuedBy(certificate, each)));
    }
    const bundle = this.value(certificateSecrets.authority, certificateKeys.authorities);
    const map = this.client.find(configMaps, { namespace, name: authoritiesConfigMap });
    assert.deepEqual(map?.data, { [certificateKeys.authorities]: bundle });
    const caBundle = Buffer.from(bundle).toString('base64');
    for (const service of this.client.all(apiServices))
      assert.equal(service.spec.caBundle, service.metadata.labels === undefined ? undefined : caBundle);
    for (const { webhooks = [] } of this.client.all(mutatingWebhookConfigurations))
      for (const { clientConfig } of webhooks) assert.equal(clientConfig.caBundle, caBundle);
  }
}

async function cluster(t: test.TestContext): Promise<Cluster> {
  const made = new Cluster();
  t.after(() => made.stop());
  for (const [name, labels] of [
    ['v1.kubevirt.io', label],
    ['v1.other.io', undefined],
  ] as const) {
    await made.client.create(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name, ...(labels === undefined ? {} : { labels }) },
      spec: {},
    });
  }
  await made.client.create(mutatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'nativirt', labels: label },
    webhooks: ['a', 'b'].map((name) => ({ name, clientConfig: {} })),
  });
  return made;
}

test('a fresh cluster: Secrets, the bundle, and who has to trust it', async (t) => {
  const harness = await cluster(t);
  await harness.begin();
  harness.check();
  const { type } = harness.client.find(secrets, { namespace, name: certificateSecrets.apiserver }) ?? {};
  assert.equal(type, 'kubernetes.io/tls');
  const serving = new X509Certificate(
    harness.value(certificateSecrets.apiserver, certificateKeys.certificate),
  );
  assert.equal(serving.checkHost('nativirt-apiserver.kubevirt.svc'), 'nativirt-apiserver.kubevirt.svc');
  const agent = new X509Certificate(harness.value(certificateSecrets.nodeAgent, certificateKeys.certificate));
  assert.ok(agent.checkHost('node-1.node-agent.nativirt.io'));
  const writes = harness.client.writes.length;
  await harness.clock.advance(hour);
  assert.equal(harness.client.writes.length, writes, 'nothing is written without need');
});

test('a leaf is renewed in time by itself', async (t) => {
  const harness = await cluster(t);
  await harness.begin();
  const before = harness.value(certificateSecrets.apiserver, certificateKeys.certificate);
  await harness.clock.advance(19.2 * hour);
  assert.notEqual(harness.value(certificateSecrets.apiserver, certificateKeys.certificate), before);
  harness.check();
});

test('a month of restarts: what is there always belongs together', async (t) => {
  const harness = await cluster(t);
  const authorities = new Set<string>();
  for (let hours = 0; hours < 30 * 24; hours += 17) {
    await harness.begin();
    harness.check();
    authorities.add(harness.value(certificateSecrets.authority, certificateKeys.certificate));
    await harness.stop();
    // Nobody is there to whom time could matter.
    await harness.clock.advance(17 * hour);
  }
  assert.equal(authorities.size, 6);
});

test('what is lost, spoiled or taken away is put right at once; after a month off all is new', async (t) => {
  const harness = await cluster(t);
  await harness.begin();
  const { client } = harness;
  await client.delete(secrets, { namespace, name: certificateSecrets.apiserver });
  await client.delete(configMaps, { namespace, name: authoritiesConfigMap });
  await client.patch(
    secrets,
    { namespace, name: certificateSecrets.nodeAgent },
    { type: 'merge', body: { data: { [certificateKeys.privateKey]: '' } } },
  );
  await client.patch(
    apiServices,
    { name: 'v1.kubevirt.io' },
    { type: 'merge', body: { spec: { caBundle: null } } },
  );
  await settle();
  harness.check();
  await client.delete(secrets, { namespace, name: certificateSecrets.authority });
  await settle();
  harness.check();
  await harness.stop();
  await harness.clock.advance(30 * 24 * hour);
  await harness.begin();
  harness.check();
});

test('its Role names every Secret that it reads', () => {
  const names = installationRules.certificates?.flatMap(({ resourceNames = [] }) => resourceNames);
  assert.deepEqual(names?.sort(), [authoritiesConfigMap, ...Object.values(certificateSecrets)].sort());
});
