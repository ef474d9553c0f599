import test from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ApiError } from '../../errors/api-error.js';
import { messageOf, messages } from './messages.js';
import { protobufToJson } from './transcode.js';

/** `[number, value]`: a number as a varint, text or a message as bytes. */
type Written = readonly [number, number | string | Buffer];

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
}

function message(...fields: readonly Written[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)];
      const bytes = Buffer.from(value);
      return [varint((number << 3) | 2), varint(bytes.length), bytes];
    }),
  );
}

function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const typeMeta = message([1, apiVersion], [2, kind]);
  return Buffer.concat([Buffer.from('k8s\0'), message([1, typeMeta], [2, raw], [3, ''], [4, ''])]);
}

function decoded(apiVersion: string, kind: string, ...fields: readonly Written[]): unknown {
  const json = protobufToJson(envelope(apiVersion, kind, message(...fields)));
  return json === undefined ? undefined : JSON.parse(json.toString());
}

test('maps, lists, bytes, times that are not set, and what absent means', () => {
  const metadata = message(
    [1, 'a'],
    [3, ''],
    [7, 0],
    [8, Buffer.alloc(0)],
    [11, message([1, 'k'], [2, 'v'])],
    [11, message([1, '__proto__'], [2, 'x'])],
    [14, 'f1'],
    [14, 'f2'],
    [17, message([1, 'ignored'])],
  );
  assert.deepEqual(
    decoded(
      'v1',
      'Secret',
      [1, metadata],
      [2, message([1, 'key'], [2, Buffer.from([0, 255])])],
      [3, 'Opaque'],
      [5, 0],
    ),
    JSON.parse(
      '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","finalizers":["f1","f2"],' +
        '"labels":{"k":"v","__proto__":"x"}},"type":"Opaque","immutable":false,"data":{"key":"AP8="}}',
    ),
  );
});

test('numbers below zero, quantities, times and numbers that may be text', () => {
  assert.deepEqual(decoded('scheduling.k8s.io/v1', 'PriorityClass', [2, -5], [3, 0]), {
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    value: -5,
  });
  const quota = message([1, message([1, 'pods'], [2, message([1, '1k'])])]);
  assert.deepEqual(decoded('v1', 'ResourceQuota', [2, quota]), {
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    spec: { hard: { pods: '1k' } },
  });
  const budget = message([1, message([1, 0], [2, 1], [3, ''])], [3, message([1, 1], [2, 0], [3, '50%'])]);
  assert.deepEqual(decoded('policy/v1', 'PodDisruptionBudget', [2, budget]), {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    spec: { minAvailable: 1, maxUnavailable: '50%' },
  });
  const seconds = Date.parse('2026-01-02T03:04:05Z') / 1000;
  const lease = message([1, 'me'], [2, 15], [4, message([1, seconds], [2, 6_007_000])], [5, 0]);
  assert.deepEqual(decoded('coordination.k8s.io/v1', 'Lease', [2, lease]), {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    spec: {
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      renewTime: '2026-01-02T03:04:05.006007Z',
    },
  });
});

test('a review as kubectl auth can-i sends it', () => {
  const attributes = message(
    [1, 'x'],
    [2, 'create'],
    [3, 'kubevirt.io'],
    [4, '*'],
    [5, 'virtualmachines'],
    [6, ''],
    [7, ''],
  );
  const spec = message([1, attributes], [5, message([1, 'scopes'], [2, message([1, 'a'], [1, 'b'])])]);
  assert.deepEqual(
    decoded(
      'authorization.k8s.io/v1',
      'SelfSubjectAccessReview',
      [1, Buffer.alloc(0)],
      [2, spec],
      [3, message([1, 0])],
    ),
    {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'x',
          verb: 'create',
          group: 'kubevirt.io',
          version: '*',
          resource: 'virtualmachines',
        },
        extra: { scopes: ['a', 'b'] },
      },
    },
  );
});

test('options of a delete belong to every group; kinds that are not known stay as they are', () => {
  assert.deepEqual(decoded('apps/v1', 'DeleteOptions', [1, 0], [2, message([1, 'u'])]), {
    kind: 'DeleteOptions',
    apiVersion: 'apps/v1',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
  });
  assert.equal(decoded('v1', 'Pod'), undefined);
  assert.equal(decoded('v2', 'Secret'), undefined);
});

test('every message that is named exists, with its field numbers in order', () => {
  const scalars = new Set(['string', 'bytes', 'int', 'bool', 'time', 'microTime', 'quantity', 'intOrString']);
  for (const [name, definition] of Object.entries(messages)) {
    const numbers = definition.split(', ').map((field) => {
      const [number = '', , type = ''] = field.split(' ');
      const bare = type.replace(/^map<|>$|\[\]$|!$/g, '');
      assert.ok(scalars.has(bare) || messages[bare] !== undefined, `${name}: ${field}`);
      return Number(number);
    });
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      name,
    );
  }
  assert.equal(messageOf('v1', 'Event'), 'CoreEvent');
});

test('any bytes are read, left alone, or a client error', () => {
  const check = (body: Buffer): void => {
    try {
      protobufToJson(body);
    } catch (error) {
      assert.ok(error instanceof ApiError && error.code === 400);
    }
  };
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      check(Buffer.from(bytes));
      check(envelope('v1', 'Service', Buffer.from(bytes)));
      check(Buffer.concat([Buffer.from('k8s\0'), bytes]));
    }),
    { numRuns: 500 },
  );
});
