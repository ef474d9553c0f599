/** `launcher/FIELDS.md`: every field of a machine, how it reaches QEMU, and what proves it. `UPDATE_FIELDS=1` writes it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { definition, loadDefinitions } from '../../openapi/definitions.js';
import type { Schema } from '../../openapi/schema.js';
import type { FieldRule } from '../../launcher/qemu/field-rule.js';
import { fieldRules } from '../../launcher/qemu/field-rules.js';
import { examples } from '../../launcher/qemu/testdata/specs.js';
import { meantRefusals } from './domain/meant-differences.js';
import { contextOf, readRows } from './domain/rows.js';
import { hardwareSpec } from './hardware/spec.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = `${root}launcher/FIELDS.md`;
const sections = ['domain', 'volumes', 'networks'] as const;

interface Field {
  readonly path: string;
  readonly rule: FieldRule;
}

/** The paths of all fields below a schema that have none below themselves. */
function leaves(schema: Schema, path: string): string[] {
  const target = schema.$ref === undefined ? schema : definition(loadDefinitions(), schema.$ref);
  if (target.items) return leaves(target.items, `${path}[]`);
  const properties = Object.entries(target.properties ?? {});
  if (properties.length === 0) return [path];
  return properties.flatMap(([key, below]) => leaves(below, `${path}.${key}`));
}

const rules = new Map(fieldRules.map((rule) => [rule.path, rule]));

/** The rule of a field: its own, or that of everything below one above it. */
function ruleOf(path: string): FieldRule | undefined {
  const own = rules.get(path);
  if (own) return own;
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const whole = rules.get(`${path.slice(0, end)}.**`);
    if (whole) return whole;
  }
  return undefined;
}

function fields(): Field[] {
  const spec = definition(loadDefinitions(), 'io.kubevirt.v1.VirtualMachineInstanceSpec');
  const paths = sections.flatMap((section) => leaves(spec.properties?.[section] ?? {}, section));
  const unruled = paths.filter((path) => !ruleOf(path));
  assert.deepEqual(unruled, [], 'fields that no rule in launcher/qemu/field-rules.ts knows');
  return paths.flatMap((path) => {
    const rule = ruleOf(path);
    return rule ? [{ path, rule }] : [];
  });
}

/** The paths that a spec uses, those of empty objects included. */
function used(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((element) => used(element, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [path];
  const below = Object.entries(value).flatMap(([key, child]) =>
    used(child, path === '' ? key : `${path}.${key}`),
  );
  return [path, ...below];
}

/** Tests of what no whole machine shows. */
const unitTests: readonly (readonly [path: RegExp, file: string])[] = [
  [/^domain\.devices\.logSerialConsole$/, 'launcher/access.test.ts'],
  [
    /^volumes\[\]\.(containerDisk|ephemeral|emptyDisk|hostDisk|persistentVolumeClaim|dataVolume)\./,
    'launcher/disks/prepare.test.ts',
  ],
  [
    /^volumes\[\]\.(cloudInit\w+|secret|configMap|downwardAPI|serviceAccount|sysprep|memoryDump)\b/,
    'launcher/disks/prepare.test.ts',
  ],
  [/\.blockSize\.matchVolume\./, 'launcher/disks/prepare.test.ts'],
  [/^domain\.memory\.reservedOverhead\./, 'controllers/launcher-pod/launcher-pod.test.ts'],
  [/^domain\.resources\.overcommitGuestOverhead$/, 'controllers/launcher-pod/launcher-pod.test.ts'],
  [/\.changedBlockTracking$/, 'launcher/qemu/supported-fields.test.ts'],
  [/\.privateOptions\[\]/, 'launcher/qemu/host-devices.test.ts'],
];

function proofs(): (path: string) => string[] {
  const guest = new Set(used(hardwareSpec, ''));
  const golden = new Map(examples.map(({ name, spec }) => [name, new Set(used(spec, ''))]));
  const refused = new Set(meantRefusals.flatMap(({ rows }) => rows));
  const rows = readRows()
    .filter(({ number }) => !refused.has(number))
    .map((row) => new Set(used(contextOf(row).vmi.spec, '')));
  return (path) => {
    const recorded = rows.filter((paths) => paths.has(path)).length;
    const example = [...golden].find(([, paths]) => paths.has(path))?.[0];
    return [
      ...(guest.has(path) ? ['the guest: `launcher/hardware-boot.test.ts`'] : []),
      ...(recorded > 0 ? [`\`test/guest/domain\` (${recorded} rows)`] : []),
      ...(example === undefined ? [] : [`\`launcher/qemu/testdata/${example}.args\``]),
      ...unitTests.filter(([pattern]) => pattern.test(path)).map(([, file]) => `\`${file}\``),
    ];
  };
}

/** Why a field is refused whatever its value is. */
function refusal({ refuse }: FieldRule): string | undefined {
  const reasons = [true, false, {}, 'value', 'delay', 1].map((value) => refuse?.(value));
  return reasons.every((reason) => reason !== undefined) ? reasons[0] : undefined;
}

async function table(): Promise<string> {
  const proofOf = proofs();
  const unproved: string[] = [];
  const lines = fields().map(({ path, rule }) => {
    const why = refusal(rule);
    const proved = why === undefined ? proofOf(path) : ['`test/guest/fields.test.ts`'];
    if (proved.length === 0) unproved.push(path);
    const effect = why === undefined ? rule.effect : `refused: ${why}`;
    return `| \`${path}\` | ${effect} | ${proved.join(', ')} |`;
  });
  assert.deepEqual(unproved, [], 'fields that no test shows');
  const text = [
    '# The fields of a machine',
    '',
    'How each field of `spec.domain`, `spec.volumes` and `spec.networks` of a VMI reaches QEMU, and the tests that show it. It is made',
    'from `launcher/qemu/field-rules.ts` and from what the tests use: `UPDATE_FIELDS=1 npx tsx --test test/guest/fields.test.ts`.',
    '',
    '| field | how it reaches QEMU | shown by |',
    '| --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
  return await format(text, { ...(await resolveConfig(document)), parser: 'markdown' });
}

test('the table of fields is up to date, and every field is shown by a test', async () => {
  const made = await table();
  if (process.env['UPDATE_FIELDS']) writeFileSync(document, made);
  assert.equal(made, readFileSync(document, 'utf8'));
});

test('the tests that the table names are there', () => {
  for (const [, file] of unitTests) assert.ok(existsSync(root + file), file);
});

test('every rule is about a field that there is', () => {
  const spec = definition(loadDefinitions(), 'io.kubevirt.v1.VirtualMachineInstanceSpec');
  const known = new Set<string>();
  for (const path of Object.entries(spec.properties ?? {}).flatMap(([name, schema]) =>
    leaves(schema, name),
  )) {
    const words = path.replaceAll('[]', '.[]').split('.');
    words.forEach((_, index) =>
      known.add(
        words
          .slice(0, index + 1)
          .join('.')
          .replaceAll('.[]', '[]'),
      ),
    );
  }
  const strange = fieldRules
    .map(({ path }) => path.replace(/\.\*\*$/, ''))
    .filter((path) => !known.has(path));
  assert.deepEqual(strange, []);
});
