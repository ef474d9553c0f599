import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { KubernetesObject, ManagedFieldsEntry } from '../../openapi/meta.js';
import { compose, decodeStored, encodeStored, head, metadataSlice } from './stored-bytes.js';

const as = { kind: 'VirtualMachine', apiVersion: 'kubevirt.io/v1' };

const entry = (fieldsV1: Record<string, unknown> | undefined): ManagedFieldsEntry => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'kubevirt.io/v1',
  fieldsType: 'FieldsV1',
  ...(fieldsV1 === undefined ? {} : { fieldsV1 }),
});

const objects = fc
  .record({
    annotations: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })),
    labels: fc.dictionary(fc.string(), fc.string()),
    owners: fc.array(
      fc.option(
        fc.dictionary(
          fc.string().map((name) => `f:${name}`),
          fc.constant({}),
        ),
        // Another server may have left them out.
        { nil: undefined },
      ),
      { maxLength: 3 },
    ),
    rest: fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()),
  })
  .map(({ annotations, labels, owners, rest }): KubernetesObject => {
    const own = Object.fromEntries(
      Object.entries(rest).filter(([key]) => !['apiVersion', 'kind', 'metadata', '__proto__'].includes(key)),
    );
    const metadata = {
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2026-01-02T03:04:05Z',
      labels,
      annotations,
      ...(owners.length === 0 ? {} : { managedFields: owners.map(entry) }),
    };
    return { ...own, ...as, metadata };
  });

test('an object survives the round trip, under any version and revision', () => {
  fc.assert(
    fc.property(objects, (object) => {
      const bytes = encodeStored(object);
      const canonical: unknown = JSON.parse(JSON.stringify(object));
      assert.deepEqual(decodeStored(bytes, as, 7), canonical);
      const older = decodeStored(bytes, { ...as, apiVersion: 'kubevirt.io/v1alpha3' }, 8);
      assert.equal(older.apiVersion, 'kubevirt.io/v1alpha3');
      assert.equal(older.metadata.resourceVersion, '8');
    }),
  );
});

test('what was stored without marks around its fields is read too', () => {
  const bytes = encodeStored({
    ...as,
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: 't',
      managedFields: [entry({ 'f:spec': {} }), entry({})],
    },
  });
  const plain = Buffer.from(bytes.toString().replaceAll('\r', ''));
  assert.notEqual(plain.length, bytes.length);
  assert.deepEqual(decodeStored(plain, as, 7), decodeStored(bytes, as, 7));
});

test('the metadata can be cut out of the bytes, whatever strings it holds', () => {
  fc.assert(
    fc.property(objects, (object) => {
      const bytes = encodeStored(object);
      const text = `${head(as, 7)}${metadataSlice(bytes).toString()}}}`;
      assert.deepEqual(
        (JSON.parse(text) as KubernetesObject).metadata,
        JSON.parse(JSON.stringify(object.metadata)),
      );
    }),
  );
});

test('a dry run has no resourceVersion', () => {
  const bytes = encodeStored({
    ...as,
    metadata: { name: 'a', uid: 'u', resourceVersion: '', creationTimestamp: 't' },
  });
  assert.equal('resourceVersion' in decodeStored(bytes, as, undefined).metadata, false);
});

test('compose measures in bytes, not in characters', () => {
  assert.equal(compose('é', Buffer.from('ü'), 'ß').toString(), 'éüß');
});
