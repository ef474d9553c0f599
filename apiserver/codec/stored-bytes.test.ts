import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { KubernetesObject } from '../../openapi/meta.js';
import { compose, decodeStored, encodeStored, head, metadataSlice } from './stored-bytes.js';

const as = { kind: 'VirtualMachine', apiVersion: 'kubevirt.io/v1' };

const objects = fc
  .record({
    annotations: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })),
    labels: fc.dictionary(fc.string(), fc.string()),
    rest: fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()),
  })
  .map(({ annotations, labels, rest }): KubernetesObject => {
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
