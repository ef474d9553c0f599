import assert from 'node:assert/strict';
import test from 'node:test';
import { virtualMachineInstanceValidation } from '../../apiserver/admission/vmi/validate.js';
import type { StatusCause } from '../../openapi/meta.js';
import { isKubeVirtUser } from './users.js';
import { schemaChecker } from './schema.js';
import { assertVerdict, contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

const skipped: Readonly<Record<number, string>> = {
  1: 'a validator that only the recording test had refuses everything',
  33: 'it is warned of a feature gate that exists only in the recording test',
};

const plugin = virtualMachineInstanceValidation(isKubeVirtUser);
const schemaCauses = schemaChecker('io.kubevirt.v1.VirtualMachineInstance');

async function causesOf(row: VectorRow, warnings: string[]): Promise<readonly StatusCause[]> {
  const faults = schemaCauses(row.object);
  return faults.length > 0
    ? faults
    : ((await plugin.validate?.(requestOf(row), contextOf(row, warnings))) ?? []);
}

for (const [index, row] of readVectors('vmicreate-validate').entries()) {
  test(`vmicreate-validate ${index}`, { skip: skipped[index] ?? false }, async () => {
    const warnings: string[] = [];
    assertVerdict(row, await causesOf(row, warnings));
    if (row.allowed) assert.equal(warnings.length, row.warnings ?? 0, warnings.join('\n'));
  });
}
