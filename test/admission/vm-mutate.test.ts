import assert from 'node:assert/strict';
import test from 'node:test';
import { matcherCauses } from '../../apiserver/admission/instancetype/matchers.js';
import { virtualMachineDefaults } from '../../apiserver/admission/vm/mutate.js';
import { kubevirtResources } from '../../apiserver/resources/index.js';
import type { VirtualMachinePreferenceSpec } from '../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { canonicalQuantity } from '../../openapi/quantity.js';
import { existing, lookupsOf } from './kind-vectors.js';
import { schemaChecker } from './schema.js';
import { contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

const plugin = virtualMachineDefaults({ uuid: () => 'a-uuid' });

const preference = (scope: '' | 'Cluster', spec: VirtualMachinePreferenceSpec): KubernetesObject =>
  existing(`VirtualMachine${scope}Preference`, `machineType${scope}Preference`, { spec });

/** What the recording's cluster held besides. */
function surroundings(index: number): readonly KubernetesObject[] {
  const volumes = { preferredStorageClassName: 'ceph' };
  return [
    preference('', { machine: { preferredMachineType: 'pc-q35-4.0' } }),
    preference('Cluster', index < 34 ? { machine: { preferredMachineType: 'pc-q35-5.0' } } : { volumes }),
  ];
}

/** What is random, and what only this server adds. */
function scrub(object: unknown): unknown {
  const { metadata, spec } = structuredClone(object) as VirtualMachine;
  delete metadata.finalizers;
  const { firmware, memory, resources } = spec.template.spec?.domain ?? {};
  for (const member of ['uuid', 'serial'] as const)
    if (firmware?.[member] !== undefined) firmware[member] = 'a-uuid';
  if (memory?.guest !== undefined) memory.guest = canonicalQuantity(memory.guest);
  for (const amounts of [resources?.requests ?? {}, resources?.limits ?? {}])
    for (const [name, amount] of Object.entries(amounts)) amounts[name] = canonicalQuantity(amount);
  return withoutEmpty({ metadata, spec });
}

/** The recording keeps empty objects where Go has structs. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

const key = ({ reason, field }: StatusCause): string => `${reason ?? ''} ${field ?? ''}`;

async function mutated(row: VectorRow, index: number): Promise<VirtualMachine> {
  // Recorded without an operation: it was none that gives a VM its identity.
  const request = requestOf(row.operation === '' ? { ...row, operation: 'UPDATE' } : row);
  const context = { ...contextOf(row), lookups: lookupsOf(surroundings(index)) };
  if (plugin.handles(request)) await plugin.mutate?.(request, context);
  return request.object as VirtualMachine;
}

for (const [index, row] of readVectors('vm-mutate').entries()) {
  test(`vm-mutate ${index}`, async () => {
    const resource = kubevirtResources.find(({ plural }) => plural === row.resource.resource);
    if (resource === undefined) {
      assert.equal(row.allowed, false, 'a resource that the server does not serve has no admission');
      return;
    }
    if (row.object === undefined) return;
    if (row.causes?.some(({ reason }) => (reason ?? '') === '') === true) {
      assert.notDeepEqual(schemaChecker('io.kubevirt.v1.VirtualMachine')(row.object), []);
      return;
    }
    const got = await mutated(row, index);
    const causes = matcherCauses(got, row.oldObject as VirtualMachine | undefined);
    assert.deepEqual(causes.map(key), (row.causes ?? []).map(key));
    assert.equal(causes.length === 0, row.allowed);
    if (!row.allowed) return;
    assert.deepEqual(scrub(got), scrub(row.result ?? row.object));
    assert.deepEqual(await mutated({ ...row, object: got }, index), got, 'defaulting is idempotent');
  });
}
