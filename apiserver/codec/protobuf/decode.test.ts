import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decodeProtobuf, WireError } from './decode.js';
import { kubectlBodies } from './testing/kubectl-bodies.js';

/** A length-delimited field of a short message. */
function field(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >> 7)];
}

const number = (field_: number, value: number): Buffer => Buffer.from([field_ << 3, ...varint(value)]);
const message = (...fields: Buffer[]): Buffer => Buffer.concat(fields);

function body(apiVersion: string, kind: string, ...fields: Buffer[]): Buffer {
  const type = field(1, message(field(1, apiVersion), field(2, kind)));
  return Buffer.concat([Buffer.from('k8s\0'), type, field(2, message(...fields))]);
}

test('a secret as kubectl sends it', () => {
  const metadata = field(
    1,
    message(field(1, 's'), field(2, ''), field(8, ''), field(11, message(field(1, 'a'), field(2, 'b')))),
  );
  const data = field(2, message(field(1, 'key'), field(2, Buffer.from([0, 255]))));
  assert.deepEqual(decodeProtobuf(body('v1', 'Secret', metadata, data, field(3, 'Opaque'), number(5, 0))), {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 's', labels: { a: 'b' } },
    data: { key: 'AP8=' },
    type: 'Opaque',
    immutable: false,
  });
});

test('lists, nested messages, numbers or strings, and times', () => {
  const port = field(
    1,
    message(
      field(1, 'web'),
      number(3, 8080),
      field(4, message(number(1, 1), number(2, 0), field(3, 'http'))),
    ),
  );
  const other = field(1, message(number(3, 9), field(4, message(number(1, 0), number(2, 300)))));
  const created = field(1, message(field(8, number(1, 1_700_000_000))));
  const service = decodeProtobuf(
    body('v1', 'Service', created, field(2, message(port, other, field(5, '1.2.3.4')))),
  );
  assert.deepEqual(service, {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { creationTimestamp: '2023-11-14T22:13:20Z' },
    spec: {
      ports: [
        { name: 'web', port: 8080, targetPort: 'http' },
        { port: 9, targetPort: 300 },
      ],
      externalIPs: ['1.2.3.4'],
    },
  });
});

test('fields that are not known are passed over', () => {
  const fixed = Buffer.from([((99 << 3) & 0x7f) | 0x80 | 1, 6, 1, 2, 3, 4, 5, 6, 7, 8]);
  const namespace = decodeProtobuf(
    body('v1', 'Namespace', field(1, field(1, 'n')), number(12, 5), fixed, field(15, 'x')),
  );
  assert.deepEqual(namespace, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } });
});

test('a map key reaches no prototype', () => {
  const labels = field(11, message(field(1, '__proto__'), field(2, 'x')));
  const decoded = decodeProtobuf(body('v1', 'ConfigMap', field(1, labels)));
  assert.deepEqual(Object.keys((decoded?.['metadata'] as { labels: object }).labels), ['__proto__']);
});

test('other kinds are not read; options of a delete are of every version', () => {
  assert.equal(decodeProtobuf(body('kubevirt.io/v1', 'VirtualMachine')), undefined);
  assert.equal(decodeProtobuf(body('v1', 'toString')), undefined);
  assert.equal(decodeProtobuf(body('constructor', 'Namespace')), undefined);
  assert.equal(decodeProtobuf(body('v2', 'Secret')), undefined);
  const options = body('policy/v1', 'DeleteOptions', number(1, 0), field(2, field(1, 'u')));
  assert.deepEqual(decodeProtobuf(options), {
    kind: 'DeleteOptions',
    apiVersion: 'policy/v1',
    gracePeriodSeconds: 0,
    preconditions: { uid: 'u' },
  });
});

test('zeros that are values, numbers below zero, and microseconds', () => {
  const minusFive = Buffer.from([2 << 3, 0xfb, ...Array<number>(8).fill(0xff), 1]);
  assert.deepEqual(decodeProtobuf(body('scheduling.k8s.io/v1', 'PriorityClass', minusFive, number(3, 0))), {
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    value: -5,
  });
  const none = field(2, field(1, message(number(1, 0), number(2, 0), field(3, ''))));
  assert.deepEqual(decodeProtobuf(body('policy/v1', 'PodDisruptionBudget', none))?.['spec'], {
    minAvailable: 0,
  });
  const renewed = field(4, message(number(1, 1_700_000_000), number(2, 6_007_000)));
  const lease = body(
    'coordination.k8s.io/v1',
    'Lease',
    field(2, message(field(1, 'me'), renewed, number(5, 0))),
  );
  assert.deepEqual(decodeProtobuf(lease)?.['spec'], {
    holderIdentity: 'me',
    renewTime: '2023-11-14T22:13:20.006007Z',
    leaseTransitions: 0,
  });
});

test('raw JSON, lists of text in a map, and packed numbers', () => {
  const data = field(2, field(1, '{"a":[1]}'));
  assert.deepEqual(decodeProtobuf(body('apps/v1', 'ControllerRevision', data))?.['data'], { a: [1] });
  const extra = field(5, message(field(1, 'scopes'), field(2, message(field(1, 'a'), field(1, 'b')))));
  const review = body('authorization.k8s.io/v1', 'SubjectAccessReview', field(2, extra));
  assert.deepEqual(decodeProtobuf(review)?.['spec'], { extra: { scopes: ['a', 'b'] } });
  const groups = field(2, field(14, message(field(4, Buffer.from([1, 0x80, 1])), number(4, 7))));
  assert.deepEqual(decodeProtobuf(body('v1', 'Pod', groups))?.['spec'], {
    securityContext: { supplementalGroups: [1, 128, 7] },
  });
});

for (const { command, protobuf, object } of kubectlBodies)
  test(`as JSON says it: kubectl ${command}`, () => {
    assert.deepEqual(decodeProtobuf(Buffer.from(protobuf, 'base64')), object);
  });

function refuses(bytes: Buffer): void {
  assert.throws(() => decodeProtobuf(bytes), WireError);
}

test('malformed bytes are refused', () => {
  refuses(Buffer.from('{}'));
  refuses(Buffer.from('k8s'));
  refuses(body('v1', 'Secret', Buffer.from([0x0a, 0x7f])));
  refuses(body('v1', 'Secret', number(1, 5)));
  refuses(body('v1', 'Secret', field(3, Buffer.from([0xff]))));
  refuses(body('v1', 'Secret', number(0, 5)));
  refuses(body('v1', 'Secret', Buffer.from([0x0b])));
  refuses(body('v1', 'Secret', Buffer.from([5 << 3, ...Array<number>(10).fill(0xff)])));
  // A length below zero.
  refuses(body('v1', 'Secret', Buffer.from([0x0a, ...Array<number>(9).fill(0xff), 1])));
  refuses(body('apps/v1', 'ControllerRevision', field(2, field(1, '{'))));
  const farAway = Buffer.from([1 << 3, ...Array<number>(6).fill(0xff), 1]);
  refuses(body('v1', 'Secret', field(1, field(8, farAway))));
  refuses(Buffer.concat([body('v1', 'Secret'), field(3, 'gzip')]));
});

function neverCrashes(bytes: Buffer): void {
  try {
    decodeProtobuf(bytes);
  } catch (error) {
    assert.ok(error instanceof WireError, String(error));
  }
}

test('bytes at random are read or refused', () => {
  const kind = fc.constantFrom('Secret', 'Service', 'Event', 'Pod', 'PersistentVolume');
  fc.assert(
    fc.property(kind, fc.uint8Array({ maxLength: 60 }), (name, bytes) => {
      neverCrashes(body('v1', name, Buffer.from(bytes)));
    }),
    { numRuns: 2000 },
  );
});

test('bodies with some bytes changed, or cut off, are read or refused', () => {
  const original = fc.constantFrom(...kubectlBodies.map(({ protobuf }) => Buffer.from(protobuf, 'base64')));
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  fc.assert(
    fc.property(original, changes, fc.nat(), (bytes, edits, cut) => {
      const changed = Buffer.from(bytes);
      for (const [at, value] of edits) changed[4 + (at % (changed.length - 4))] = value;
      neverCrashes(changed);
      neverCrashes(changed.subarray(0, cut % changed.length));
    }),
    { numRuns: 2000 },
  );
});
