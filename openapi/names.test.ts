import assert from 'node:assert/strict';
import test from 'node:test';
import * as names from './names.js';

const good = (check: (name: string) => names.Faults, ...all: readonly string[]): void => {
  for (const name of all) assert.deepEqual(check(name), [], name);
};
const bad = (check: (name: string) => names.Faults, ...all: readonly string[]): void => {
  for (const name of all) assert.equal(check(name).length, 1, name);
};

test('DNS subdomains and labels', () => {
  good(names.dnsSubdomainFaults, 'a', 'a-b.c', '0', 'a'.repeat(253));
  bad(names.dnsSubdomainFaults, '', 'A', 'a..b', '-a', 'a-', '.a', 'a_b', 'a'.repeat(254), 'ä', 'a\n');
  good(names.dnsLabelFaults, 'a', 'a-b', '1', 'a'.repeat(63));
  bad(names.dnsLabelFaults, '', 'a.b', 'a'.repeat(64), 'A', 'a\n');
  good(names.dns1035LabelFaults, 'a', 'a1');
  bad(names.dns1035LabelFaults, '1a', '');
});

test('a faulty name of either fault names both', () => {
  assert.equal(names.dnsLabelFaults('A'.repeat(64)).length, 2);
  assert.match(
    names.dnsSubdomainFaults('Bad_Name')[0] ?? '',
    /^a lowercase RFC 1123 subdomain .*'example\.com'/,
  );
});

test('path segments', () => {
  good(names.pathSegmentFaults, 'system:node', 'A b', '...');
  bad(names.pathSegmentFaults, '.', '..', 'a/b', '%');
});

test('qualified names', () => {
  good(names.qualifiedNameFaults, 'a', 'A.b_c-1', 'example.com/name', 'a'.repeat(63));
  bad(names.qualifiedNameFaults, '', 'a/b/c', '/a', 'a b', 'example.com/', 'Example.com/a', 'a'.repeat(64));
  assert.match(names.qualifiedNameFaults('a b')[0] ?? '', /^name part must consist of/);
  assert.match(names.qualifiedNameFaults('B/a')[0] ?? '', /^prefix part a lowercase/);
});

test('label values', () => {
  good(names.labelValueFaults, '', 'a', 'my_value', '12345');
  bad(names.labelValueFaults, 'not ok!', '-a', 'a'.repeat(64));
});

test('finalizers', () => {
  good(names.finalizerNameFaults, 'example.com/hold', 'anything');
  good(names.coreFinalizerNameFaults, 'orphan', 'foregroundDeletion', 'kubernetes.io/pvc-protection');
  bad(names.coreFinalizerNameFaults, 'anything', 'not ok!');
});

test('generateName may end in a dash or dot', () => {
  const check = names.prefixOf(names.dnsSubdomainFaults);
  good(check, 'vm-', 'vm.', 'vm');
  bad(check, 'vm--_', 'Vm-');
});

test('long hostile names are answered, without backtracking', () => {
  const repeated = (text: string): string => `${text.repeat(1_000_000)}!`;
  assert.equal(names.dnsSubdomainFaults(repeated('a.')).length, 2);
  assert.equal(names.dnsSubdomainFaults(repeated('a-')).length, 2);
  assert.equal(names.dnsLabelFaults(repeated('a-')).length, 2);
  assert.equal(names.qualifiedNameFaults(repeated('a.')).length, 2);
  assert.equal(names.labelValueFaults(repeated('a.')).length, 2);
});
