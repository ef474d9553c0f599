import assert from 'node:assert/strict';
import test from 'node:test';
import { parseOptions, UsageError } from './options.js';

const required = ['--pod-dir', '/pod', '--name', 'vm', '--namespace=ns', '--uid', 'u'];

test('the command line is read, with its defaults', () => {
  assert.deepEqual(parseOptions(required), {
    podDir: '/pod',
    name: 'vm',
    namespace: 'ns',
    uid: 'u',
    qemu: 'qemu-system-x86_64',
    qemuImg: 'qemu-img',
    allowKvm: true,
  });
  const more = parseOptions([...required, '--no-kvm', '--qemu', './q']);
  assert.ok(more !== 'help' && !more.allowKvm && more.qemu === './q');
  assert.equal(parseOptions(['--help']), 'help');
});

test('what is wrong with a command line is said', () => {
  const cases: [argv: string[], message: RegExp][] = [
    [[], /--pod-dir is required/],
    [required.slice(0, 6), /--uid|--namespace/],
    [[...required, '--qemu'], /--qemu needs a value/],
    [[...required, '--name='], /--name needs a value/],
    [[...required, '--fast'], /unknown argument --fast/],
    [[...required, 'extra'], /unknown argument extra/],
  ];
  for (const [argv, message] of cases) {
    assert.throws(
      () => parseOptions(argv),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  }
});
