import assert from 'node:assert/strict';
import test from 'node:test';
import { commandLine } from '../../../launcher/qemu/command-line.js';
import { cpuPlacement } from '../../../launcher/qemu/placement.js';
import { commandLineFacts } from './command-line-facts.js';
import { domainFacts } from './domain-facts.js';
import { differences, type Facts } from './facts.js';
import { meantDifferences, meantRefusals } from './meant-differences.js';
import { contextOf, readRows, type Row } from './rows.js';

/** Our machine's hardware for a row. */
function ours(row: Row): Facts {
  const context = contextOf(row);
  return commandLineFacts(commandLine(context), cpuPlacement(context));
}

const refusalOf = ({ number }: Row) => meantRefusals.find(({ rows }) => rows.includes(number));
const rows = readRows();

test('the hardware of every recorded machine is the same, but for what is meant', () => {
  const used = new Set<string>();
  const strange: string[] = [];
  for (const row of rows.filter((candidate) => !refusalOf(candidate))) {
    for (const { fact, domain = '-', commandLine: made = '-' } of differences(
      domainFacts(row.domain),
      ours(row),
    )) {
      const line = `${fact}: ${domain} → ${made}`;
      const meant = meantDifferences.find(
        ({ where, differs }) => differs.test(line) && (where === undefined || where(row)),
      );
      if (meant) used.add(meant.why);
      else strange.push(`row ${row.number}: ${line}`);
    }
  }
  assert.deepEqual(strange, []);
  const unused = meantDifferences.filter(({ why }) => !used.has(why)).map(({ why }) => why);
  assert.deepEqual(unused, [], 'differences that are listed and are not there');
});

test('a recorded machine that cannot be made is refused by name', () => {
  for (const { rows: numbers, message } of meantRefusals) {
    for (const row of rows.filter(({ number }) => numbers.includes(number))) {
      assert.throws(() => ours(row), { message });
    }
  }
});

test('both sides say enough to be compared', () => {
  for (const row of rows.filter((candidate) => !refusalOf(candidate))) {
    const [theirs, made] = [domainFacts(row.domain), ours(row)];
    const agreed = [...theirs].filter(([fact, value]) => made.get(fact) === value);
    assert.ok(agreed.length >= 12, `row ${row.number} agrees in ${agreed.length} facts`);
  }
});
