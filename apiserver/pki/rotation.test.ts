import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import test from 'node:test';
import { createAuthority, issueLeaf, type LeafTemplate } from './authority.js';
import { isIssuedBy, isValidAt, parseBundle, validity } from './bundle.js';
import { defaultRotation, rotate, type Certificates, type RotatedCertificates } from './rotation.js';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse('2026-01-02T03:04:05Z');
const templates: Record<'server' | 'client', LeafTemplate> = {
  server: {
    commonName: 'server',
    dnsNames: ['a.svc', '*.b.svc'],
    ips: ['127.0.0.1', '::1'],
    usages: ['server'],
  },
  client: { commonName: 'client', organizations: ['x', 'y'], usages: ['client'] },
};
type Leaf = keyof typeof templates;
const nothing: Certificates<Leaf> = { authority: undefined, bundle: '', bundleChangedAt: 0, leaves: {} };
const at = (state: Certificates<Leaf>, now: number) => rotate(state, templates, defaultRotation, now);

/** Every leaf is valid, and of an authority in the bundle that is valid. */
function check(state: RotatedCertificates<Leaf>, now: number): void {
  const bundle = parseBundle(state.bundle);
  for (const authority of bundle) assert.ok(isValidAt(authority, now));
  for (const { cert } of Object.values(state.leaves)) {
    const leaf = new X509Certificate(cert);
    assert.ok(isValidAt(leaf, now));
    assert.ok(bundle.some((authority) => isIssuedBy(leaf, authority)));
  }
}

test('the first certificates: an authority for a week, leaves for a day, made anew after 80 %', () => {
  const first = at(nothing, start);
  check(first, start);
  assert.equal(validity(new X509Certificate(first.authority.cert)).to, start + 7 * day);
  const leaf = new X509Certificate(first.leaves.server.cert);
  assert.equal(validity(leaf).to, start + day);
  assert.equal(leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  assert.equal(first.nextAt, start + 0.8 * day);
  const same = at(first, first.nextAt - 1);
  assert.deepEqual(same, first);
  const next = at(first, first.nextAt);
  assert.equal(next.authority, first.authority);
  assert.notEqual(next.leaves.server.cert, first.leaves.server.cert);
});

test('for a quarter: nothing that is in use is ever without an authority that counts', () => {
  let state = at(nothing, start);
  let now = start;
  let authorities = 0;
  let largest = 0;
  for (let count = 0; now < start + 90 * day; count++) {
    assert.ok(state.nextAt > now && count < 500, 'there is always a next time, and it lies ahead');
    // What the old state shows has to be accepted by those who have read the new bundle, and the other way round.
    const before = state;
    now = state.nextAt;
    state = at(before, now);
    check(state, now);
    const known = parseBundle(before.bundle);
    for (const { cert } of Object.values(state.leaves)) {
      assert.ok(known.some((authority) => isIssuedBy(new X509Certificate(cert), authority)));
    }
    if (state.authority !== before.authority) authorities += 1;
    largest = Math.max(largest, parseBundle(state.bundle).length);
  }
  assert.equal(authorities, Math.floor(90 / 5.6));
  assert.equal(largest, 2);
});

test('leaves wait until a new authority is known everywhere', () => {
  const first = at(nothing, start);
  const due = start + 5.6 * day;
  const fresh = at(first, due - 0.8 * day);
  const next = at(fresh, due);
  assert.notEqual(next.authority, first.authority);
  assert.deepEqual(
    parseBundle(next.bundle).map((each) => each.toString()),
    [next.authority.cert, first.authority.cert],
  );
  assert.deepEqual(next.leaves, fresh.leaves);
  assert.equal(next.nextAt, due + defaultRotation.propagation);
  const later = at(next, next.nextAt);
  const leaf = new X509Certificate(later.leaves.client.cert);
  assert.ok(isIssuedBy(leaf, new X509Certificate(next.authority.cert)));
});

test('everything was off for long: all is new, and what has expired is forgotten', () => {
  const first = at(nothing, start);
  const later = start + 30 * day;
  const next = at(first, later);
  check(next, later);
  assert.equal(parseBundle(next.bundle).length, 1);
});

test('what is broken, lost, foreign or from the future is replaced at once', () => {
  const first = at(nothing, start);
  const now = start + hour;
  const validFor = { notBefore: start, notAfter: start + day };
  const stranger = createAuthority('stranger', validFor);
  const broken: Partial<Record<string, Partial<Certificates<Leaf>>>> = {
    'no PEM': { leaves: { ...first.leaves, server: { cert: 'x', key: 'y' } } },
    'a foreign key': {
      leaves: { ...first.leaves, server: { ...first.leaves.server, key: first.leaves.client.key } },
    },
    lost: { leaves: { client: first.leaves.client } },
    'of a stranger': { leaves: { ...first.leaves, server: issueLeaf(stranger, templates.server, validFor) } },
    'not yet valid': {
      leaves: {
        ...first.leaves,
        server: issueLeaf(first.authority, templates.server, { notBefore: now + hour, notAfter: now + day }),
      },
    },
    'of another name': {
      leaves: { ...first.leaves, server: issueLeaf(first.authority, templates.client, validFor) },
    },
  };
  for (const [what, change] of Object.entries(broken)) {
    const next = at({ ...first, ...change }, now);
    check(next, now);
    assert.equal(next.authority, first.authority, what);
    assert.notEqual(next.leaves.server.cert, change?.leaves?.server?.cert, what);
    assert.equal(next.leaves.client, first.leaves.client, what);
  }
  for (const authority of [
    undefined,
    { cert: '', key: '' },
    first.leaves.client,
    { ...stranger, key: first.authority.key },
  ]) {
    const next = at({ ...first, authority }, now);
    check(next, now);
    assert.deepEqual(next.leaves, first.leaves, 'they still count: their authority is in the bundle');
    const emptied = at({ ...first, authority, bundle: 'nothing' }, now);
    check(emptied, now);
    assert.notEqual(emptied.leaves.client.cert, first.leaves.client.cert);
  }
});

test('lives so short that one ends with the other still end in time', () => {
  const policy = { authorityLifetime: 30_000, leafLifetime: 100_000, propagation: 0 };
  let now = start;
  let state = rotate(nothing, templates, policy, now);
  for (let count = 0; count < 100; count++) {
    assert.ok(state.nextAt > now);
    now = state.nextAt;
    state = rotate(state, templates, policy, now);
    check(state, now);
  }
});
