/** KubeVirt's own example manifests, as they are: admitted, or refused as the release that ships them does. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { parseAllDocuments } from 'yaml';
import { resourceOf, startAdmission, type AdmissionServer } from './server.js';

interface Example {
  readonly file: string;
  readonly object: { readonly apiVersion: string; readonly kind: string };
}

/** They say how much memory the guest has, which their instancetype says too. */
const conflicting = [
  'vm-cirros-clarge-virtio.yaml',
  'vm-cirros-clarge-windows.yaml',
  'vm-cirros-clarge.yaml',
  'vm-cirros-cluster-csmall.yaml',
  'vm-cirros-csmall.yaml',
  'vm-windows-clarge-windows.yaml',
];

/** They use what a feature gate keeps shut. */
const gated: Readonly<Record<string, string>> = {
  'vm-cirros-with-sidecar-hook-configmap.yaml': 'spec.template.metadata.annotations',
  'vmi-host-disk.yaml': 'spec.volumes[0]',
  'vmi-usb.yaml': 'spec.domain.devices.hostDevices',
  'vmi-with-sidecar-hook-configmap.yaml': 'metadata.annotations',
  'vmi-with-sidecar-hook.yaml': 'metadata.annotations',
};
const gates = ['HostDevices', 'HostDisk', 'Sidecar'];

/** A migration of a VMI that does not exist is a bad request. */
const migration = 'migration-job.yaml';

function readExamples(): readonly Example[] {
  const directory = path.join(import.meta.dirname, 'examples');
  return readdirSync(directory).flatMap((file) =>
    parseAllDocuments(readFileSync(path.join(directory, file), 'utf8'))
      .map((document) => ({ file, object: document.toJS() as Example['object'] }))
      // Priority classes and resource claims are the cluster's own.
      .filter(({ object }) => resourceOf(object.apiVersion, object.kind) !== undefined),
  );
}

const examples = readExamples();
const isReferredTo = ({ object }: Example): boolean => /(Instancetype|Preference)$/i.test(object.kind);

async function serverWith(featureGates: readonly string[]): Promise<AdmissionServer> {
  const server = await startAdmission({ developerConfiguration: { featureGates } });
  for (const { file, object } of examples.filter(isReferredTo)) {
    const { status, message } = await server.createObject(object);
    assert.equal(status, 201, `${file}: ${message}`);
  }
  return server;
}

const others = examples.filter((example) => !isReferredTo(example));

test('the examples under the default configuration', async (t) => {
  const server = await serverWith([]);
  t.after(() => server.close());
  for (const { file, object } of others) {
    await t.test(file, async () => {
      const { status, message, causes } = await server.tryObject(object);
      const fields = causes.map(({ field }) => field);
      const gatedField = gated[file];
      if (file === migration) assert.equal(status, 400, message);
      else if (conflicting.includes(file)) {
        assert.equal(status, 422, message);
        assert.deepEqual(fields, ['spec.template.spec.domain.memory.guest']);
      } else if (gatedField !== undefined) {
        assert.equal(status, 422, message);
        assert.deepEqual(fields, [gatedField]);
      } else assert.equal(status, 201, message);
    });
  }
});

test('the gated examples with their feature gates', async (t) => {
  const server = await serverWith(gates);
  t.after(() => server.close());
  for (const { file, object } of others.filter((example) => Object.hasOwn(gated, example.file))) {
    await t.test(file, async () => {
      const { status, message } = await server.tryObject(object);
      assert.equal(status, 201, message);
    });
  }
});
