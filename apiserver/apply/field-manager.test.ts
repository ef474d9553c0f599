import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Definitions, Schema } from '../../openapi/schema.js';
import { ApiError } from '../errors/api-error.js';
import { FieldManager } from './field-manager.js';
import { FieldSet } from './field-set.js';

const number: Schema = { type: 'number' };
const string: Schema = { type: 'string' };

/** The schema that the recorded answers were made with. */
const definitions: Definitions = {
  'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta': {
    type: 'object',
    properties: { name: string, labels: { type: 'object', additionalProperties: string } },
  },
  T: {
    type: 'object',
    properties: {
      apiVersion: string,
      kind: string,
      metadata: { $ref: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      status: { type: 'object', properties: { phase: string } },
      spec: {
        type: 'object',
        properties: {
          a: number,
          inner: { type: 'object', properties: { x: number, y: string } },
          atom: { type: 'object', additionalProperties: number, 'x-kubernetes-map-type': 'atomic' },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
          plain: { type: 'array', items: number },
          l: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: {
              type: 'object',
              properties: {
                name: string,
                v: number,
                sub: { type: 'object', properties: { p: number, q: number } },
              },
            },
          },
        },
      },
    },
  },
};

const manager = new FieldManager({ definitions, definition: 'T', separateStatus: false });
const context = { apiVersion: 'v1', subresource: undefined, now: '2026-01-01T00:00:00Z', force: false };

/** As a client sends it, without what the server fills in: hence the cast. */
function object(fields: Record<string, unknown>): KubernetesObject {
  return { apiVersion: 'v1', kind: 'T', metadata: { name: 'a' }, ...fields } as unknown as KubernetesObject;
}

interface RecordedStep {
  write: { type: 'apply' | 'update'; manager: string; force: boolean; object: KubernetesObject };
  answer: { object: unknown; owners: Record<string, unknown>; error?: string };
}

/** Nulls and empty branches are not compared, nor the order of list items: there the recording is not the model. */
function normal(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(normal).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([, item]) => item !== null && !(typeof item === 'object' && Object.keys(item as object).length === 0),
  );
  return Object.fromEntries(
    kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, normal(item)]),
  );
}

function ownersOf(live: KubernetesObject | undefined): Record<string, unknown> {
  const entries = live?.metadata.managedFields ?? [];
  return Object.fromEntries(
    entries.map((entry) => [`${entry.operation.charAt(0)}:${entry.manager}`, entry.fieldsV1]),
  );
}

const identity = FieldSet.fromPaths([['f:apiVersion'], ['f:kind'], ['f:metadata'], ['f:metadata', 'f:name']]);

function withoutIdentity(owners: Record<string, unknown>): Record<string, unknown> {
  const sets = Object.entries(owners).map(
    ([key, fields]) => [key, FieldSet.fromFieldsV1(fields).difference(identity)] as const,
  );
  return Object.fromEntries(
    sets.filter(([, set]) => !set.isEmpty).map(([key, set]) => [key, set.toFieldsV1()]),
  );
}

test('random sequences of applies and updates end as the Go implementation of structured merge records them', () => {
  const file = path.join(import.meta.dirname, 'testdata', 'recorded.jsonl');
  const sequences = readFileSync(file, 'utf8').trim().split('\n');
  for (const line of sequences) {
    let live: KubernetesObject | undefined;
    for (const { write, answer } of JSON.parse(line) as RecordedStep[]) {
      const by = { ...context, manager: write.manager, force: write.force };
      try {
        if (write.type === 'apply') live = manager.apply(live, write.object, by);
        else {
          manager.update(live, write.object, by);
          live = write.object;
        }
      } catch (error) {
        assert.ok(error instanceof ApiError && answer.error !== undefined, `${String(error)} in ${line}`);
        continue;
      }
      assert.equal(answer.error, undefined, line);
      const stored = structuredClone(live);
      delete stored.metadata.managedFields;
      assert.deepEqual(normal(stored), normal(answer.object), line);
      assert.deepEqual(ownersOf(live), withoutIdentity(answer.owners), line);
    }
  }
});

test('a conflict names every field and its owner', () => {
  const live = manager.apply(undefined, object({ spec: { a: 1, inner: { x: 1 } } }), {
    ...context,
    manager: 'one',
  });
  assert.throws(
    () => manager.apply(live, object({ spec: { a: 2, inner: { x: 2 } } }), { ...context, manager: 'two' }),
    (error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(
        error.message,
        'Apply failed with 2 conflicts: conflict with "one":\n- .spec.a\n- .spec.inner.x',
      );
      assert.deepEqual(error.details?.causes, [
        { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.a' },
        { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.inner.x' },
      ]);
      return true;
    },
  );
});

test('items of a keyed list keep the order of the applier and stay beside their old neighbours', () => {
  // Objects of the test's own schema.
  const names = (live: KubernetesObject): unknown =>
    (live as unknown as { spec: { l: { name: string }[] } }).spec.l.map((item) => item.name);
  const live = manager.apply(
    undefined,
    object({ spec: { l: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } }),
    { ...context, manager: 'one' },
  );
  const merged = manager.apply(live, object({ spec: { l: [{ name: 'x' }, { name: 'c' }, { name: 'a' }] } }), {
    ...context,
    manager: 'two',
  });
  assert.deepEqual(names(merged), ['b', 'x', 'c', 'a']);
});

test('two items with one key are refused with the place', () => {
  assert.throws(
    () =>
      manager.apply(undefined, object({ spec: { l: [{ name: 'a' }, { name: 'a' }] } }), {
        ...context,
        manager: 'one',
      }),
    /\.spec\.l: duplicate entries for key \{"name":"a"\}/,
  );
});

test('a status write owns status only, a main write everything else', () => {
  const split = new FieldManager({ definitions, definition: 'T', separateStatus: true });
  const live = object({ spec: { a: 1 }, status: { phase: 'x' } });
  split.update(undefined, live, { ...context, manager: 'main' });
  assert.deepEqual(ownersOf(live), { 'U:main': { 'f:spec': { '.': {}, 'f:a': {} } } });
  const updated = object({ spec: { a: 1 }, status: { phase: 'y' } });
  split.update(live, updated, { ...context, manager: 'controller', subresource: 'status' });
  assert.deepEqual(
    updated.metadata.managedFields?.map((entry) => [entry.manager, entry.subresource, entry.fieldsV1]),
    [
      ['controller', 'status', { 'f:status': { 'f:phase': {} } }],
      ['main', undefined, { 'f:spec': { '.': {}, 'f:a': {} } }],
    ],
  );
});

test('an empty managedFields list gives up tracking, until the next apply', () => {
  const live = object({ spec: { a: 1 } });
  manager.update(undefined, live, { ...context, manager: 'one' });
  const reset = object({ spec: { a: 2 } });
  reset.metadata.managedFields = [];
  manager.update(live, reset, { ...context, manager: 'one' });
  assert.equal(reset.metadata.managedFields, undefined);
  const applied = manager.apply(reset, object({ spec: { a: 2 } }), { ...context, manager: 'two' });
  assert.deepEqual(Object.keys(ownersOf(applied)), ['A:two', 'U:before-first-apply']);
});

test('the oldest of more than ten updaters are folded into one entry', () => {
  let live = object({ metadata: { name: 'a', labels: { l0: '0' } } });
  manager.update(undefined, live, { ...context, manager: 'm0', now: '2026-01-01T00:00:00Z' });
  for (let i = 1; i < 13; i++) {
    const next = structuredClone(live);
    next.metadata.labels = { ...next.metadata.labels, [`l${i}`]: '1' };
    manager.update(live, next, {
      ...context,
      manager: `m${i}`,
      now: `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
    });
    live = next;
  }
  const managers = live.metadata.managedFields?.map((entry) => entry.manager) ?? [];
  assert.equal(managers.length, 10);
  assert.ok(managers.includes('ancient-changes') && managers.includes('m12') && !managers.includes('m0'));
});
