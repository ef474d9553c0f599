import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubeVirt, KubeVirtSpec } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import { ApiError } from '../../errors/api-error.js';
import { defaultConfiguration } from '../configuration/defaults.js';
import type { AdmissionContext, AdmissionRequest } from '../interface.js';
import { kubeVirtValidation } from './validate.js';

const plugin = kubeVirtValidation();

const kubevirt = (spec: KubeVirtSpec): KubeVirt => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace: 'kubevirt', uid: '', resourceVersion: '', creationTimestamp: '' },
  spec,
});

const request = (object: KubeVirt | undefined, oldObject: KubeVirt): AdmissionRequest => ({
  operation: object === undefined ? 'DELETE' : 'UPDATE',
  group: 'kubevirt.io',
  version: 'v1',
  resource: 'kubevirts',
  kind: 'KubeVirt',
  subresource: undefined,
  namespace: 'kubevirt',
  name: 'kubevirt',
  object,
  oldObject,
  user: { name: 'u', groups: [], extra: {} },
  dryRun: false,
});

/** @param held what there is of each plural name */
const contextOf = (held: Readonly<Record<string, readonly KubernetesObject[]>> = {}): AdmissionContext => ({
  configuration: defaultConfiguration,
  lookups: {
    get: () => Promise.resolve(undefined),
    list: <T extends KubernetesObject>(_group: string, resource: string) =>
      // The rule asks for the kinds by their plural names.
      Promise.resolve((held[resource] ?? []) as readonly T[]),
  },
  warn: () => undefined,
});

async function fields(spec: KubeVirtSpec, old: KubeVirtSpec = {}): Promise<(string | undefined)[]> {
  const causes = (await plugin.validate?.(request(kubevirt(spec), kubevirt(old)), contextOf())) ?? [];
  return causes.map(({ field }) => field);
}

test('certificates end before their authority, and are renewed before they end', async () => {
  const selfSigned = (value: NonNullable<KubeVirtSpec['certificateRotateStrategy']>['selfSigned']) =>
    fields({ certificateRotateStrategy: { ...(value === undefined ? {} : { selfSigned: value }) } });
  const at = 'spec.certificateRotateStrategy.selfSigned';
  assert.deepEqual(
    await selfSigned({ ca: { duration: '48h', renewBefore: '24h' }, server: { duration: '24h' } }),
    [],
  );
  assert.deepEqual(await selfSigned({ ca: { duration: '24h', renewBefore: '48h' } }), [
    `${at}.ca.renewBefore`,
  ]);
  assert.deepEqual(await selfSigned({ ca: { duration: '24h' }, server: { duration: '25h' } }), [
    `${at}.server.duration`,
  ]);
  assert.deepEqual(await selfSigned({ caRotateInterval: '48h', server: { duration: '1h' } }), [
    `${at}.caRotateInterval`,
  ]);
  assert.deepEqual(await selfSigned({ ca: { duration: 'a week' } }), [`${at}.ca.duration`]);
});

test('cipher suites are chosen by their names, and only for TLS before 1.3', async () => {
  const at = 'spec.configuration.tlsConfiguration.ciphers';
  const ciphers = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_NULL'];
  assert.deepEqual(await fields({ configuration: { tlsConfiguration: { ciphers } } }), [at]);
  const tlsConfiguration = { minTLSVersion: 'VersionTLS12' as const, ciphers };
  assert.deepEqual(await fields({ configuration: { tlsConfiguration } }), [`${at}[1]`]);
  assert.deepEqual(
    await fields({ configuration: { tlsConfiguration } }, { configuration: { tlsConfiguration } }),
    [],
  );
});

test('placement follows the rules of pods; what stood may stand', async () => {
  const infra: KubeVirtSpec['infra'] = {
    nodePlacement: {
      nodeSelector: { 'not a key': 'x' },
      tolerations: [{ operator: 'Equal', value: 'x' }, { operator: 'Exists' }],
    },
  };
  assert.deepEqual(await fields({ infra }), [
    'spec.infra.nodePlacement.nodeSelector[not a key]',
    'spec.infra.nodePlacement.tolerations[0].operator',
  ]);
  assert.deepEqual(await fields({ infra }, { infra }), []);
  assert.deepEqual(await fields({ infra: { replicas: 0 } }), ['spec.infra.replicas']);
});

test('what stands behind a feature gate needs it, or was there before', async () => {
  const migrations = { maxDowntimeMs: 900 };
  const at = 'spec.configuration.migrations.maxDowntimeMs';
  assert.deepEqual(await fields({ configuration: { migrations } }), [at]);
  assert.deepEqual(await fields({ configuration: { migrations } }, { configuration: { migrations } }), []);
  const developerConfiguration = { featureGates: ['MigrationStallDetection'] };
  assert.deepEqual(await fields({ configuration: { migrations, developerConfiguration } }), []);
});

test('patches of components, profiles and ratios are looked at', async () => {
  const patch = { patch: '{', resourceName: 'a', resourceType: 'Deployment', type: 'json' };
  assert.deepEqual(await fields({ customizeComponents: { patches: [patch] } }), [
    'spec.customizeComponents.patches[0].patch',
  ]);
  assert.deepEqual(
    await fields({ configuration: { seccompConfiguration: { virtualMachineInstanceProfile: {} } } }),
    ['spec.configuration.seccompConfiguration.virtualMachineInstanceProfile.customProfile'],
  );
  for (const [ratio, faults] of [
    ['1.5', 0],
    ['0.9', 1],
    ['many', 1],
  ] as const) {
    const found = await fields({ configuration: { additionalGuestMemoryOverheadRatio: ratio } });
    assert.equal(found.length, faults, ratio);
  }
});

test('a KubeVirt that is told to protect its workloads is not deleted before them', async () => {
  const vms = { virtualmachines: [kubevirt({})] };
  const remove = async (
    uninstallStrategy: string | undefined,
    held: typeof vms | undefined,
  ): Promise<void> => {
    const old = kubevirt(uninstallStrategy === undefined ? {} : { uninstallStrategy });
    assert.deepEqual(await plugin.validate?.(request(undefined, old), contextOf(held)), []);
  };
  await remove('BlockUninstallIfWorkloadsExist', undefined);
  await remove('RemoveWorkloads', vms);
  await remove(undefined, vms);
  await assert.rejects(remove('BlockUninstallIfWorkloadsExist', vms), (error) => {
    return error instanceof ApiError && error.code === 400 && error.message.includes('1 VirtualMachines');
  });
});
