import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { parseAllDocuments } from 'yaml';
import { certificateSecrets } from '../../openapi/certificates.js';
import type { PolicyRule } from '../../openapi/generated/types/rbac_v1.js';
import { webhookPaths } from '../../apiserver/webhooks/webhooks.js';
import { parseApiserverOptions } from '../apiserver/options.js';
import { nativirtVersion } from '../version.js';
import { generatedDirectory, manifestFile, plainManifests, renderChart } from './generate.js';
import { generatedTemplates } from './generated-templates.js';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly hostPath?: { readonly path: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly replicas?: number;
    readonly strategy?: { readonly type: string };
    readonly selector?: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly Container[];
        readonly volumes: readonly Volume[];
      };
    };
  };
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
  readonly rules?: readonly PolicyRule[];
  readonly webhooks?: readonly {
    readonly clientConfig: { readonly service: { readonly name: string; readonly path: string } };
  }[];
}

function parse(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    // The tests below look at what they use of it.
    const content = document.toJS() as Manifest | null;
    return content === null ? [] : [content];
  });
}

function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name === name);
  assert.ok(found, `there is no ${kind} ${name}`);
  return found;
}

function podOf(manifest: Manifest) {
  const template = manifest.spec?.template;
  assert.ok(template);
  const [container] = template.spec.containers;
  assert.ok(container);
  return { ...template, container };
}

const plain = parse(await readFile(manifestFile, 'utf8'));
const workloads = plain.filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet');

const remedy = 'run `node --import tsx deploy/cluster/generate.ts` and commit what it writes';

test('what is generated is what is checked in', async () => {
  const templates = generatedTemplates();
  assert.deepEqual((await readdir(generatedDirectory)).sort(), Object.keys(templates).sort());
  for (const [name, content] of Object.entries(templates))
    assert.equal(await readFile(join(generatedDirectory, name), 'utf8'), content, remedy);
  assert.equal(await readFile(manifestFile, 'utf8'), await plainManifests(), remedy);
});

test('no object is there twice, and every one has a kind and a name', () => {
  const ids = plain.map(({ apiVersion, kind, metadata }) =>
    [apiVersion, kind, metadata.namespace, metadata.name].join(' '),
  );
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.ok(ids.every((id) => !id.includes('undefined undefined')));
});

test('every binding names a role and an account that are there', () => {
  const ours = new Set(plain.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const theirs = new Set([
    'ClusterRole system:auth-delegator',
    'Role extension-apiserver-authentication-reader',
  ]);
  const bindings = plain.filter(({ kind }) => kind.endsWith('RoleBinding') || kind === 'ClusterRoleBinding');
  assert.ok(bindings.length >= 7);
  for (const { metadata, roleRef, subjects = [] } of bindings) {
    const role = `${roleRef?.kind ?? ''} ${roleRef?.name ?? ''}`;
    assert.ok(ours.has(role) || theirs.has(role), `${metadata.name} binds ${role}`);
    for (const { kind, name } of subjects)
      if (kind === 'ServiceAccount')
        assert.ok(ours.has(`ServiceAccount ${name}`), `${metadata.name}: ${name}`);
  }
  for (const { spec } of workloads)
    assert.ok(ours.has(`ServiceAccount ${spec?.template?.spec.serviceAccountName ?? ''}`));
});

test('no part of ours may do everything, and the API server reads no secret', () => {
  for (const { metadata, rules = [] } of plain.filter(({ kind }) => kind.endsWith('Role')))
    for (const { resources = [], verbs, apiGroups = [] } of rules)
      assert.ok(![...resources, ...verbs, ...apiGroups].includes('*'), `${metadata.name} has a wildcard`);
  const rules = find(plain, 'ClusterRole', 'nativirt-apiserver').rules ?? [];
  assert.ok(rules.every(({ resources = [] }) => !resources.includes('secrets')));
});

test('every mount has its volume, and every Secret is one that the certificates controller keeps', () => {
  const known: readonly string[] = Object.values(certificateSecrets);
  for (const workload of workloads) {
    const { spec, container } = podOf(workload);
    const volumes = new Map(spec.volumes.map((volume) => [volume.name, volume]));
    for (const { name } of container.volumeMounts ?? []) assert.ok(volumes.has(name), `no volume ${name}`);
    for (const { secret } of spec.volumes)
      if (secret !== undefined) assert.ok(known.includes(secret.secretName), secret.secretName);
  }
});

test('selectors select their pods', () => {
  for (const workload of workloads) {
    const { metadata } = podOf(workload);
    for (const [label, value] of Object.entries(workload.spec?.selector?.matchLabels ?? {}))
      assert.equal(metadata.labels[label], value);
  }
});

test('only the node agent has rights on its node', () => {
  for (const workload of workloads) {
    const { container } = podOf(workload);
    if (workload.kind === 'DaemonSet') {
      assert.equal(container.securityContext?.privileged, true);
      continue;
    }
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
});

test('the API server takes its arguments, and its store is one process’s or etcd', async () => {
  const argumentsOf = (manifests: readonly Manifest[]): readonly string[] =>
    podOf(find(manifests, 'Deployment', 'nativirt-apiserver')).container.args ?? [];
  const embedded = find(plain, 'Deployment', 'nativirt-apiserver').spec;
  assert.deepEqual([embedded?.replicas, embedded?.strategy?.type], [1, 'Recreate']);
  assert.equal(parseApiserverOptions(argumentsOf(plain))?.store.kind, 'level');
  const replicated = parse(
    await renderChart([
      'apiserver.replicas=3',
      'store.etcd.endpoints={https://a:2379,https://b:2379}',
      'store.encryptionSecret=keys',
      'apiserver.extraArgs={--anonymous-auth=false}',
    ]),
  );
  const options = parseApiserverOptions(argumentsOf(replicated));
  assert.deepEqual(options?.store.kind === 'etcd' ? options.store.endpoints : [], [
    'https://a:2379',
    'https://b:2379',
  ]);
  assert.equal(options?.anonymous, false);
  assert.ok(
    argumentsOf(replicated).includes('--encryption-provider-config=/etc/nativirt/encryption/config.yaml'),
  );
  assert.equal(find(replicated, 'Deployment', 'nativirt-apiserver').spec?.strategy?.type, 'RollingUpdate');
  const withoutTls = parse(
    await renderChart(['store.etcd.endpoints={http://a:2379}', 'store.etcd.secretName=']),
  );
  assert.deepEqual(
    argumentsOf(withoutTls).filter((flag) => flag.startsWith('--etcd')),
    ['--etcd-servers=http://a:2379', '--etcd-prefix=/nativirt'],
  );
  await assert.rejects(renderChart(['apiserver.replicas=2']), /an embedded store has one API server/);
});

test('the store is on what the settings say', async () => {
  const storeOf = async (...settings: string[]): Promise<Volume | undefined> => {
    const manifests = parse(await renderChart(settings));
    return podOf(find(manifests, 'Deployment', 'nativirt-apiserver')).spec.volumes.find(
      ({ name }) => name === 'store',
    );
  };
  assert.equal((await storeOf())?.hostPath?.path, '/var/lib/nativirt/apiserver');
  const claim = await storeOf('store.embedded.claimSize=2Gi');
  assert.equal(claim?.persistentVolumeClaim?.claimName, 'nativirt-apiserver');
  const existing = await storeOf('store.embedded.existingClaim=mine');
  assert.equal(existing?.persistentVolumeClaim?.claimName, 'mine');
});

test('webhooks go where the API server answers them', () => {
  const paths = plain.flatMap(({ webhooks = [] }) =>
    webhooks.map(({ clientConfig }) => clientConfig.service.path),
  );
  assert.deepEqual(paths.sort(), Object.values(webhookPaths).sort());
});

test('the images are those of this version', () => {
  for (const workload of workloads)
    assert.ok(podOf(workload).container.image.endsWith(`:${nativirtVersion}`));
});
