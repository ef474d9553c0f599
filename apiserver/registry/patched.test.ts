import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { AdmissionPlugin } from '../admission/interface.js';
import {
  asMachine,
  asStatus,
  causes,
  machine,
  machines,
  mergePatch,
  startWithNamespace,
  type Machine,
} from './testing/objects.js';

/** Somebody who changes every virtual machine, late. */
function patching(change: (object: Machine) => object): AdmissionPlugin {
  return {
    name: 'patching',
    handles: ({ resource }) => resource === 'virtualmachines',
    mutateLate({ object }, _context, accept) {
      // The plugin handles no other kind.
      if (object !== undefined) accept(change(structuredClone(object) as Machine));
      return Promise.resolve({ changed: true, again: () => Promise.resolve() });
    },
  };
}

const withMetadata =
  (metadata: Partial<KubernetesObject['metadata']>) =>
  (object: Machine): object => ({ ...object, metadata: { ...object.metadata, ...metadata } });

test('what a patch may not change stays as it was', async (t) => {
  const change = (object: Machine): object => ({
    ...withMetadata({ uid: 'mine', generation: 7, managedFields: [], labels: { patched: 'yes' } })(object),
    spec: { ...object.spec, unheardOf: true },
    status: { ready: true },
  });
  const { request } = await startWithNamespace(t, { admission: [patching(change)] });
  const created = asMachine(await request('POST', machines, { body: machine('a') }));
  assert.notEqual(created.metadata.uid, 'mine');
  assert.equal(created.metadata.generation, 1);
  assert.equal(created.metadata.managedFields?.length, 1);
  assert.deepEqual(created.metadata.labels, { patched: 'yes' });
  assert.equal(created.status?.ready, undefined);
  assert.deepEqual(Object.keys(created.spec), ['runStrategy', 'template']);
});

test('a status is all of an object that is patched when the status is written', async (t) => {
  let change = (object: Machine): object => object;
  const { request } = await startWithNamespace(t, { admission: [patching((object) => change(object))] });
  await request('POST', machines, { body: machine('a') });
  change = (object) => ({
    ...withMetadata({ labels: { patched: 'yes' } })(object),
    spec: { ...object.spec, runStrategy: 'Always' },
    status: { ...object.status, printableStatus: 'Patched' },
  });
  const options = { body: { status: { ready: true } }, headers: mergePatch };
  const written = asMachine(await request('PATCH', `${machines}/a/status`, options));
  assert.deepEqual(written.status, { ready: true, printableStatus: 'Patched' });
  assert.deepEqual([written.metadata.labels, written.spec.runStrategy], [undefined, 'Halted']);
});

test('a patch that makes another object, or none, is refused', async (t) => {
  const table: readonly (readonly [(object: Machine) => object, number, RegExp])[] = [
    [withMetadata({ namespace: 'other' }), 400, /the namespace of the patched object \(other\)/],
    [withMetadata({ name: 'b' }), 400, /the name of the patched object \(b\)/],
    [(object) => ({ ...object, kind: 'Pod' }), 500, /is a Pod of kubevirt.io\/v1, not a VirtualMachine/],
    [(object) => ({ ...object, metadata: 1 }), 500, /metadata must be an object/],
    [(object) => ({ ...object, spec: { ...object.spec, runStrategy: 1 } }), 422, /runStrategy/],
  ];
  for (const [change, code, message] of table) {
    const { request } = await startWithNamespace(t, { admission: [patching(change)] });
    const answer = await request('POST', machines, { body: machine('a') });
    assert.equal(answer.status, code, String(message));
    assert.match(asStatus(answer).message ?? '', message);
  }
});

test('defaults are completed after a late change, and only then follows what comes after', async (t) => {
  const order: string[] = [];
  const defaults: AdmissionPlugin = {
    name: 'defaults',
    handles: () => true,
    mutate: ({ object }) => {
      order.push(`defaults of ${object?.metadata.labels?.['patched'] ?? 'original'}`);
    },
    validate: () => {
      order.push('rules');
      return [];
    },
  };
  const late: AdmissionPlugin = {
    name: 'late',
    handles: ({ resource }) => resource === 'virtualmachines',
    mutateLate({ operation, object }, _context, accept) {
      order.push(`late, ${operation}`);
      if (object !== undefined)
        accept({ ...object, metadata: { ...object.metadata, labels: { patched: 'patched' } } });
      return Promise.resolve({
        changed: object !== undefined,
        again: () => {
          order.push('again');
          return Promise.resolve();
        },
      });
    },
    validateLate({ operation }) {
      order.push(`late rules, ${operation}`);
      return Promise.resolve();
    },
  };
  const { request } = await startWithNamespace(t, { admission: [late, defaults] });
  order.length = 0;
  await request('POST', machines, { body: machine('a') });
  assert.deepEqual(order, [
    'defaults of original',
    'late, CREATE',
    'defaults of patched',
    'again',
    'rules',
    'late rules, CREATE',
  ]);
  order.length = 0;
  await request('DELETE', `${machines}/a`);
  assert.deepEqual(order, ['late, DELETE', 'rules', 'late rules, DELETE']);
});

test('nothing comes after a fault', async (t) => {
  const faulty: AdmissionPlugin = {
    name: 'faulty',
    handles: ({ resource }) => resource === 'virtualmachines',
    validate: () => [{ reason: 'FieldValueInvalid', message: 'wrong', field: 'spec' }],
    validateLate: () => Promise.reject(new Error('must not be asked')),
  };
  const { request } = await startWithNamespace(t, { admission: [faulty] });
  assert.deepEqual(causes(await request('POST', machines, { body: machine('a') })), [
    'FieldValueInvalid spec',
  ]);
});
