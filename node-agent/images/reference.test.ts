import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isImageError } from './errors.js';
import { defaultPullPolicy, parseReference } from './reference.js';
import { parseChallenges } from './registry-auth.js';

const digest = `sha256:${'a'.repeat(64)}`;

test('registry references', () => {
  const cases: [string, string, string, string | undefined, string | undefined][] = [
    ['registry.example/team/disk:v1', 'registry.example', 'team/disk', 'v1', undefined],
    ['registry.example:5000/disk', 'registry.example:5000', 'disk', 'latest', undefined],
    ['localhost/disk', 'localhost', 'disk', 'latest', undefined],
    ['[::1]:5000/disk:v1', '[::1]:5000', 'disk', 'v1', undefined],
    [`registry.example/disk@${digest}`, 'registry.example', 'disk', undefined, digest],
    [`registry.example/disk:v1@${digest}`, 'registry.example', 'disk', 'v1', digest],
    ['team/disk:v1', 'default.example', 'team/disk', 'v1', undefined],
  ];
  for (const [text, registry, repository, tag, wanted] of cases) {
    const reference = parseReference(text, 'default.example');
    assert.deepEqual(reference, { kind: 'registry', text, registry, repository, tag, digest: wanted });
  }
});

test('layout references', () => {
  const parse = (text: string) => parseReference(text);
  assert.deepEqual(parse('oci:/a/b'), {
    kind: 'layout',
    text: 'oci:/a/b',
    directory: '/a/b',
    tag: undefined,
    digest: undefined,
  });
  assert.deepEqual(parse(`oci:/a:b/c:v1@${digest}`), {
    kind: 'layout',
    text: `oci:/a:b/c:v1@${digest}`,
    directory: '/a:b/c',
    tag: 'v1',
    digest,
  });
});

test('the default policy is that of Kubernetes', () => {
  assert.equal(defaultPullPolicy(parseReference('r.example/a')), 'Always');
  assert.equal(defaultPullPolicy(parseReference('r.example/a:latest')), 'Always');
  assert.equal(defaultPullPolicy(parseReference('r.example/a:v1')), 'IfNotPresent');
  assert.equal(defaultPullPolicy(parseReference(`r.example/a@${digest}`)), 'IfNotPresent');
});

test('property: any text is a reference or an InvalidReference that quotes it', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `oci:${text}`),
      ),
      (text) => {
        try {
          assert.equal(parseReference(text, 'default.example').text, text);
        } catch (error) {
          assert.ok(isImageError(error, 'InvalidReference'));
          assert.ok(error.message.includes(text));
        }
      },
    ),
  );
});

test('challenges', () => {
  assert.deepEqual(parseChallenges('Bearer realm="https://a.example/t",service="x",scope="a:b, c"'), [
    { scheme: 'bearer', parameters: { realm: 'https://a.example/t', service: 'x', scope: 'a:b, c' } },
  ]);
  assert.deepEqual(parseChallenges('Basic realm="say \\"hi\\"", Bearer realm=plain'), [
    { scheme: 'basic', parameters: { realm: 'say "hi"' } },
    { scheme: 'bearer', parameters: { realm: 'plain' } },
  ]);
  assert.deepEqual(parseChallenges(''), []);
});
