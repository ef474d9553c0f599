import assert from 'node:assert/strict';
import test from 'node:test';
import type { AdmissionLookups } from '../../apiserver/admission/interface.js';
import { virtualMachineValidation } from '../../apiserver/admission/vm/validate.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { schemaChecker } from './schema.js';
import { isKubeVirtUser } from './users.js';
import { assertVerdict, contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

/** Rows that can not be had from what they hold. */
const skipped: Readonly<Record<number, string>> = {
  41: 'the feature gate exists only in the recording test',
  42: 'the feature gate exists only in the recording test',
};

/** Rows whose VMI was migrating. */
const migrating = new Set([8, 9]);

/** Recorded paths that are mistaken, or say less than where the fault is. */
const corrections: readonly [RegExp, string][] = [
  [/^[Ss]tatus\.volumeRequests.*/, 'status.volumeRequests'],
  [/\.GPUs$/, '.domain.devices.gpus'],
];

function correct(field: string): string {
  return corrections.reduce((path, [mistaken, right]) => path.replace(mistaken, right), field);
}

/** The VMI that ran beside a recorded VM: of its template, with one more claim plugged in. */
function instanceOf({ metadata, spec }: VirtualMachine, index: number): VirtualMachineInstance {
  const template = structuredClone(spec.template.spec ?? { domain: { devices: {} } });
  const name = 'testpvcdisk-extra';
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    spec: {
      ...template,
      volumes: [
        ...(template.volumes ?? []),
        { name, persistentVolumeClaim: { claimName: 'testpvcdiskclaim-extra', hotpluggable: true } },
      ],
      domain: {
        ...template.domain,
        devices: { ...template.domain.devices, disks: [...(template.domain.devices.disks ?? []), { name }] },
      },
    },
    status: migrating.has(index) ? { migrationState: { startTimestamp: '2026-01-01T00:00:00Z' } } : {},
  };
}

/** What the VM of row 28 refers to. */
const instancetype = { spec: { cpu: { guest: 2 }, memory: { guest: '1Gi' } } };

function lookupsOf(vmi: VirtualMachineInstance): AdmissionLookups {
  return {
    // These two are all that is looked up here.
    get: <T extends KubernetesObject>(group: string) =>
      Promise.resolve((group === 'instancetype.kubevirt.io' ? instancetype : vmi) as unknown as T),
    list: () => Promise.resolve([]),
  };
}

const plugin = virtualMachineValidation(isKubeVirtUser);
const schemaCauses = schemaChecker('io.kubevirt.v1.VirtualMachine');

async function causesOf(row: VectorRow, index: number, warnings: string[]): Promise<readonly StatusCause[]> {
  const faults = schemaCauses(row.object);
  if (faults.length > 0) return faults;
  const lookups = lookupsOf(instanceOf(row.object as VirtualMachine, index));
  return (await plugin.validate?.(requestOf(row), { ...contextOf(row, warnings), lookups })) ?? [];
}

for (const [index, row] of readVectors('vm-validate').entries()) {
  test(`vm-validate ${index}`, { skip: skipped[index] ?? false }, async () => {
    const warnings: string[] = [];
    assertVerdict(row, await causesOf(row, index, warnings), correct);
    if (row.allowed) assert.equal(warnings.length, row.warnings ?? 0, warnings.join('\n'));
  });
}
