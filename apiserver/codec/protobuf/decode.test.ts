import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { decodeProtobuf, WireError } from './decode.js';

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
    body('v1', 'Namespace', field(1, field(1, 'n')), number(12, 5), fixed, field(3, field(1, 'Active'))),
  );
  assert.deepEqual(namespace, { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'n' } });
});

test('a map key reaches no prototype', () => {
  const labels = field(11, message(field(1, '__proto__'), field(2, 'x')));
  const decoded = decodeProtobuf(body('v1', 'ConfigMap', field(1, labels)));
  assert.deepEqual(Object.keys((decoded?.['metadata'] as { labels: object }).labels), ['__proto__']);
});

test('other kinds are not read', () => {
  assert.equal(decodeProtobuf(body('kubevirt.io/v1', 'VirtualMachine')), undefined);
  assert.equal(decodeProtobuf(body('v1', 'toString')), undefined);
  assert.equal(decodeProtobuf(body('constructor', 'Namespace')), undefined);
});

test('malformed bytes are a WireError and nothing else', () => {
  const refused = (bytes: Buffer): void => {
    assert.throws(() => decodeProtobuf(bytes), WireError);
  };
  refused(Buffer.from('{}'));
  refused(body('v1', 'Secret', Buffer.from([0x0a, 0x7f])));
  refused(body('v1', 'Secret', number(1, 5)));
  refused(body('v1', 'Secret', field(3, Buffer.from([0xff]))));
  fc.assert(
    fc.property(
      fc.constantFrom('Secret', 'Service', 'Event'),
      fc.uint8Array({ maxLength: 60 }),
      (kind, bytes) => {
        try {
          decodeProtobuf(body('v1', kind, Buffer.from(bytes)));
        } catch (error) {
          assert.ok(error instanceof WireError);
        }
      },
    ),
    { numRuns: 5000 },
  );
});
