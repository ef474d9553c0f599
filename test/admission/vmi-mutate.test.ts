import assert from 'node:assert/strict';
import test from 'node:test';
import { virtualMachineInstanceDefaults } from '../../apiserver/admission/vmi/mutate.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

const plugin = virtualMachineInstanceDefaults({ uuid: () => 'a-uuid', now: () => '2026-01-01T00:00:00Z' });

/** Rows whose outcome depends on an object that the row does not hold. */
const skipped: Readonly<Record<number, string>> = {
  0: 'a preset of the test cluster matched',
  1: 'a preset of the test cluster matched',
  28: 'the KubeVirt object of the test cluster was annotated',
};

/** What is random or a clock's. */
function scrub(vmi: unknown): unknown {
  const copy = structuredClone(vmi) as VirtualMachineInstance;
  if (copy.spec.domain.firmware?.uuid !== undefined) copy.spec.domain.firmware.uuid = 'a-uuid';
  for (const entry of copy.status?.phaseTransitionTimestamps ?? []) entry.phaseTransitionTimestamp = 'now';
  return copy;
}

/** The recording keeps empty objects where Go has structs; a recorded empty object matches an absent one. */
function assertHolds(got: unknown, want: unknown, at: string): void {
  if (Array.isArray(want)) {
    assert.ok(Array.isArray(got), `${at}: want a list, got ${JSON.stringify(got)}`);
    assert.equal(got.length, want.length, `${at}: ${JSON.stringify(got)}`);
    const items: readonly unknown[] = got;
    const expected: readonly unknown[] = want;
    expected.forEach((item, index) => assertHolds(items[index], item, `${at}[${index}]`));
  } else if (typeof want === 'object' && want !== null) {
    for (const [key, value] of Object.entries(want)) {
      assertHolds((got as Record<string, unknown> | undefined)?.[key], value, `${at}.${key}`);
    }
  } else assert.deepEqual(got, want, at);
}

function assertNothingAdded(got: unknown, want: unknown, at: string): void {
  if (typeof got !== 'object' || got === null || Array.isArray(got)) return;
  for (const [key, value] of Object.entries(got as Record<string, unknown>)) {
    const recorded = (want as Record<string, unknown> | undefined)?.[key];
    const empty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
    assert.ok(recorded !== undefined || empty, `${at}.${key}: ${JSON.stringify(value)} was not recorded`);
    assertNothingAdded(value, recorded, `${at}.${key}`);
  }
}

async function defaulted(row: VectorRow): Promise<unknown> {
  const request = requestOf(row);
  if (plugin.handles(request)) await plugin.mutate?.(request, contextOf(row));
  return request.object;
}

for (const [index, row] of readVectors('vmi-mutate').entries()) {
  test(`vmi-mutate ${index}`, { skip: skipped[index] ?? false }, async () => {
    if (!row.allowed) {
      await assert.rejects(defaulted(row), { name: 'ApiError' });
      return;
    }
    // Updates keep status apart in the registry, so there is nothing to default.
    if (row.operation !== 'CREATE') return;
    const got = scrub(await defaulted(row));
    assertHolds(got, scrub(row.result), 'vmi');
    assertNothingAdded(got, scrub(row.result), 'vmi');
    const again = await defaulted({ ...row, object: got as VirtualMachineInstance });
    assert.deepEqual(
      (again as VirtualMachineInstance).spec,
      (got as VirtualMachineInstance).spec,
      'defaulting is idempotent',
    );
  });
}
