import assert from 'node:assert/strict';
import test from 'node:test';
import { parseOptions, UsageError } from './options.js';

const required = ['--pod-dir', '/pod', '--name', 'vm', '--namespace=ns', '--uid', 'u'];

test('the command line is read, with its defaults', () => {
  assert.deepEqual(parseOptions(required), {
    kind: 'run',
    podDir: '/pod',
    name: 'vm',
    namespace: 'ns',
    uid: 'u',
    qemu: 'qemu-system-x86_64',
    qemuImg: 'qemu-img',
    allowKvm: true,
    requireKvm: false,
    terminationMessage: undefined,
  });
  const more = parseOptions([...required, '--no-kvm', '--qemu', './q']);
  assert.ok(more.kind === 'run' && !more.allowKvm && more.qemu === './q');
  const inPod = parseOptions([...required, '--require-kvm', '--termination-message=/dev/termination-log']);
  assert.ok(inPod.kind === 'run' && inPod.requireKvm && inPod.terminationMessage === '/dev/termination-log');
  assert.deepEqual(parseOptions(['--help']), { kind: 'help' });
  assert.deepEqual(parseOptions(['--write-image-holder', 'x']), { kind: 'write-image-holder', path: 'x' });
});

test('a probe has its command after two dashes', () => {
  const probe = (...words: string[]) => parseOptions(['--pod-dir=/pod', '--probe', ...words]);
  const common = { kind: 'probe', podDir: '/pod' };
  assert.deepEqual(probe(), { ...common, timeoutSeconds: 1, command: [] });
  assert.deepEqual(probe('--probe-timeout=3', '--', 'test', '-e', '--name'), {
    ...common,
    timeoutSeconds: 3,
    command: ['test', '-e', '--name'],
  });
});

test('what is wrong with a command line is said', () => {
  const cases: [argv: string[], message: RegExp][] = [
    [[], /--pod-dir is required/],
    [required.slice(0, 6), /--uid|--namespace/],
    [[...required, '--qemu'], /--qemu needs a value/],
    [[...required, '--name='], /--name needs a value/],
    [[...required, '--fast'], /unknown argument --fast/],
    [[...required, 'extra'], /unknown argument extra/],
    [[...required, '--', 'x'], /unknown argument x/],
    [['--pod-dir=/pod', '--probe', '--probe-timeout=no'], /--probe-timeout must be a number/],
  ];
  for (const [argv, message] of cases) {
    assert.throws(
      () => parseOptions(argv),
      (error) => error instanceof UsageError && message.test(error.message),
    );
  }
});
