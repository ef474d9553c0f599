import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  applyPatch,
  jsonPatch,
  machine,
  machines,
  mergePatch,
  startWithNamespace,
} from '../registry/testing/objects.js';

/** Values that stand where something else belongs. */
const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'x', '\u0000', '__proto__', [], {}, [null], [[]], [{}]),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A machine with one value somewhere replaced by an odd one. */
const broken = fc
  .tuple(
    fc.constantFrom(
      ['kind'],
      ['apiVersion'],
      ['metadata'],
      ['metadata', 'name'],
      ['metadata', 'generateName'],
      ['metadata', 'namespace'],
      ['metadata', 'uid'],
      ['metadata', 'resourceVersion'],
      ['metadata', 'labels'],
      ['metadata', 'labels', 'a'],
      ['metadata', 'annotations'],
      ['metadata', 'finalizers'],
      ['metadata', 'ownerReferences'],
      ['metadata', 'managedFields'],
      ['metadata', 'deletionTimestamp'],
      ['spec'],
      ['spec', 'runStrategy'],
      ['spec', 'template'],
      ['spec', 'template', 'metadata'],
      ['spec', 'template', 'spec'],
      ['spec', 'template', 'spec', 'domain', 'devices'],
      ['spec', 'template', 'spec', 'volumes'],
      ['spec', 'dataVolumeTemplates'],
      ['status'],
      ['status', 'conditions'],
    ),
    odd,
  )
  .map(([path, value]) => {
    const object = machine('a') as Record<string, unknown>;
    let inner: Record<string, unknown> = object;
    for (const key of path.slice(0, -1)) {
      inner[key] ??= {};
      inner = inner[key] as Record<string, unknown>;
    }
    inner[path.at(-1) ?? ''] = value;
    return object;
  });

const queries = fc
  .dictionary(
    fc.constantFrom(
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
      'limit',
      'continue',
      'labelSelector',
      'fieldSelector',
      'resourceVersion',
      'resourceVersionMatch',
      'sendInitialEvents',
      'timeoutSeconds',
      'gracePeriodSeconds',
      'propagationPolicy',
      'orphanDependents',
      'includeObject',
      'pretty',
    ),
    fc.oneof(
      fc.string(),
      fc.constantFrom(
        'true',
        'All',
        'Strict',
        '0',
        '-1',
        '999',
        'NotOlderThan',
        'Exact',
        'a=b,!c',
        'a in (b',
      ),
    ),
    { maxKeys: 3 },
  )
  .map((entries) => new URLSearchParams(entries).toString());

const names = fc.oneof(
  fc.constantFrom('a', 'b', 'a/status', 'a/scale', 'a/nonsense', 'a/binding'),
  fc.string().map((text) => encodeURIComponent(text)),
);

const headers = fc.record(
  {
    accept: fc.oneof(
      fc.string(),
      fc.constantFrom(
        'application/yaml',
        'application/json;as=Table;v=v1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        '*/*;q=2',
        ';;;,,,=',
      ),
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'application/yaml',
      mergePatch['content-type'],
      jsonPatch['content-type'],
      applyPatch['content-type'],
      'text/plain',
      ';',
    ),
  },
  { requiredKeys: [] },
);

const bodies = fc.oneof(
  broken,
  odd,
  fc.string(),
  fc.array(
    fc.record({
      op: fc.constantFrom('add', 'remove', 'copy', 'move', 'test', 'x'),
      path: fc.string(),
      from: fc.string(),
      value: odd,
    }),
    { maxLength: 3 },
  ),
);

test('nothing that a client sends is a fault of the server', async (t) => {
  const { reply, request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const methods = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
  await fc.assert(
    fc.asyncProperty(
      methods,
      fc.option(names),
      queries,
      headers,
      bodies,
      async (method, name, query, sent, body) => {
        const path = `${machines}${name === null ? '' : `/${name}`}?${query}`;
        const { reply: answer } = await reply(method, path, { body, headers: sent });
        if (answer.kind === 'stream') return;
        const text = Buffer.concat(answer.chunks).toString();
        assert.ok(answer.status < 500 || answer.status === 504, `${method} ${path}: ${text}`);
      },
    ),
    { numRuns: 1500 },
  );
});

test('objects with one broken value are refused or stored, never half of either', async (t) => {
  const { request } = await startWithNamespace(t);
  await fc.assert(
    fc.asyncProperty(broken, async (body) => {
      const created = await request('POST', machines, {
        body,
        headers: { 'content-type': 'application/json' },
      });
      assert.ok(created.status < 500, JSON.stringify([body, created.body]));
      if (created.status !== 201) return;
      const { metadata } = created.body as { metadata: { name: string } };
      const read = await request('GET', `${machines}/${metadata.name}`);
      assert.deepEqual(read.body, created.body);
      const table = await request('GET', machines, {
        headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
      });
      assert.equal(table.status, 200);
      const body2 = { metadata: { finalizers: null } };
      await request('PATCH', `${machines}/${metadata.name}`, { body: body2, headers: mergePatch });
      assert.equal((await request('DELETE', `${machines}/${metadata.name}`)).status, 200);
    }),
    { numRuns: 500 },
  );
});
