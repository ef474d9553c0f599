import assert from 'node:assert/strict';
import test from 'node:test';
import type { Scale } from '../../openapi/generated/types/autoscaling_v1.js';
import { applyPatch, asMachine, asStatus, causes, startWithNamespace } from '../registry/testing/objects.js';

const sets = '/apis/kubevirt.io/v1/namespaces/n/virtualmachineinstancereplicasets';

function set(replicas: number): object {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: { name: 'a' },
    spec: {
      replicas,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { domain: { devices: {} } } },
    },
  };
}

const scale = (replicas?: number, metadata: object = {}): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a', ...metadata },
  spec: replicas === undefined ? {} : { replicas },
});

test('replicas are applied, owned and fought over through the scale', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('PATCH', `${sets}/a?fieldManager=author`, { body: set(1), headers: applyPatch });
  const send = (query: string, body: object) =>
    request('PATCH', `${sets}/a/scale?${query}`, { body, headers: applyPatch });
  const refused = await send('fieldManager=scaler', scale(3));
  assert.equal(refused.status, 409);
  assert.deepEqual(causes(refused), ['FieldManagerConflict .spec.replicas']);
  const forced = await send('fieldManager=scaler&force=true', scale(3));
  assert.deepEqual((forced.body as Scale).spec, { replicas: 3 });
  const { managedFields = [] } = asMachine(await request('GET', `${sets}/a`)).metadata;
  const entry = managedFields.find(({ manager }) => manager === 'scaler');
  assert.deepEqual(
    [entry?.operation, entry?.subresource, entry?.apiVersion, entry?.fieldsV1],
    ['Apply', 'scale', 'kubevirt.io/v1', { 'f:spec': { 'f:replicas': {} } }],
  );
  assert.equal((await send('fieldManager=scaler', scale(3))).status, 200);
});

test('what can not be applied to a scale', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', sets, { body: set(1) });
  const send = (query: string, body: object, name = 'a') =>
    request('PATCH', `${sets}/${name}/scale?${query}`, { body, headers: applyPatch });
  assert.deepEqual(causes(await send('', scale(2))), ['FieldValueRequired fieldManager']);
  assert.equal((await send('fieldManager=x', scale(2), 'nope')).status, 404);
  assert.equal((await send('fieldManager=x', set(2))).status, 400);
  assert.equal((await send('fieldManager=x', scale(2, { managedFields: [] }))).status, 400);
  const stale = await send('fieldManager=x', scale(2, { resourceVersion: '1' }));
  assert.equal(asStatus(stale).reason, 'Conflict');
});
