/** kube-apiserver's static token file: lines of `token,user,uid[,"group1,group2"]`. */
import type { UserInfo } from '../request.js';

export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
  constructor(file: string, line: number, why: string) {
    super(`${file}:${line}: ${why}`);
  }
}

/** @throws TokenFileError that names the line, never the token */
export function parseTokenFile(text: string, file: string): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>();
  for (const [index, rawLine] of text.split('\n').entries()) {
    const line = rawLine.replace(/\r$/, '');
    if (line === '' || line.startsWith('#')) continue;
    const fail = (why: string): never => {
      throw new TokenFileError(file, index + 1, why);
    };
    const fields = splitCsv(line) ?? fail('a quoted field is not closed, or text follows its closing quote');
    if (fields.length < 3) fail(`has ${fields.length} columns, but needs token,user,uid`);
    const [token = '', name = '', uid = '', groups = ''] = fields.map((field) => field.trim());
    if (token === '') fail('the token is empty');
    if (name === '') fail('the user name is empty');
    if (users.has(token)) fail('the token is that of an earlier line');
    users.set(token, {
      name,
      ...(uid === '' ? {} : { uid }),
      groups: groups.split(',').flatMap((group) => (group.trim() === '' ? [] : [group.trim()])),
      extra: {},
    });
  }
  return users;
}

/** `undefined` if the quotes do not match. */
function splitCsv(line: string): string[] | undefined {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(line.slice(at));
    const plain = /^([^",]*)(,|$)/.exec(line.slice(at));
    const match = quoted ?? plain;
    if (match === null) return undefined;
    fields.push((match[1] ?? '').replaceAll('""', '"'));
    at += match[0].length;
    if (match[2] !== ',') return fields;
  }
}
