import test from 'node:test';
import assert from 'node:assert/strict';
import { parseTokenFile } from './token-file.js';

test('columns, quotes, groups, comments and Windows line ends', () => {
  const users = parseTokenFile(
    '# people\r\nt1,jane,u1\n\nt2, "doe, ""j""" ,u2,"a,b, c "\nt3,x,,single\n',
    'tokens.csv',
  );
  assert.deepEqual(users.get('t1'), { name: 'jane', uid: 'u1', groups: [], extra: {} });
  assert.deepEqual(users.get('t2'), { name: 'doe, "j"', uid: 'u2', groups: ['a', 'b', 'c'], extra: {} });
  assert.deepEqual(users.get('t3'), { name: 'x', groups: ['single'], extra: {} });
});

test('a fault is told with file and line, and without the token', () => {
  const faults: readonly (readonly [string, RegExp])[] = [
    ['secret,jane', /^tokens\.csv:1: has 2 columns, but needs token,user,uid$/],
    ['ok,jane,1\nsecret,"jane,2', /^tokens\.csv:2: a quoted field is not closed/],
    [',jane,1', /the token is empty/],
    ['secret,,1', /the user name is empty/],
    ['secret,a,1\nsecret,b,2', /^tokens\.csv:2: the token is that of an earlier line$/],
  ];
  for (const [text, message] of faults) {
    assert.throws(
      () => parseTokenFile(text, 'tokens.csv'),
      (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
});
