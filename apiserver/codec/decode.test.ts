import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../errors/api-error.js';
import { decodeBody } from './decode.js';
import { kubectlBodies } from './protobuf/testing/kubectl-bodies.js';

const protobuf = 'application/vnd.kubernetes.protobuf';

test('protobuf of core kinds is read as JSON is', () => {
  for (const { protobuf: body, object } of kubectlBodies)
    assert.deepEqual(decodeBody(Buffer.from(body, 'base64'), protobuf), { value: object, duplicates: [] });
});

function refused(body: Buffer, type: string, code: number): void {
  assert.throws(
    () => decodeBody(body, type),
    (error) => error instanceof ApiError && error.code === code,
  );
}

test('protobuf of other kinds is 415, malformed protobuf 400', () => {
  const machine = Buffer.from('k8s\0\n\x20\n\x0ekubevirt.io/v1\x12\x0eVirtualMachine');
  refused(machine, protobuf, 415);
  refused(Buffer.from('{}'), protobuf, 400);
  refused(Buffer.from('k8s\0\n'), protobuf, 400);
  refused(Buffer.from('{}'), 'application/vnd.kubernetes.protobuf;type=x', 400);
  refused(Buffer.from('{}'), 'text/plain', 415);
});
