import test from 'node:test';
import { boundNode, type NodeAgentOf } from '../../apiserver/admission/components.js';
import { virtualMachineInstanceUpdateValidation } from '../../apiserver/admission/vmi/update.js';
import type { UserInfo } from '../../apiserver/request.js';
import type { StatusCause } from '../../openapi/meta.js';
import { schemaChecker } from './schema.js';
import { isKubeVirtUser } from './users.js';
import { assertVerdict, contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

/** The node whose agent asked, which the rows do not tell. */
const askingNode: Readonly<Record<number, string>> = {
  0: 'other',
  1: 'got',
  2: 'other',
  3: 'git',
  4: 'other',
  5: 'got',
  6: 'got',
  7: 'got',
  8: 'other',
  9: 'other',
};

const nodeAgentOf: NodeAgentOf = (user) =>
  user.name.endsWith(':kubevirt-handler') ? { node: boundNode(user) } : undefined;
const plugin = virtualMachineInstanceUpdateValidation({ isComponent: isKubeVirtUser, nodeAgentOf });
const schemaCauses = schemaChecker('io.kubevirt.v1.VirtualMachineInstance');

async function causesOf(row: VectorRow, node: string | undefined): Promise<readonly StatusCause[]> {
  const faults = schemaCauses(row.object);
  if (faults.length > 0) return faults;
  const request = requestOf(row);
  const extra: UserInfo['extra'] =
    node === undefined ? {} : { 'authentication.kubernetes.io/node-name': [node] };
  return (await plugin.validate?.({ ...request, user: { ...request.user, extra } }, contextOf(row))) ?? [];
}

for (const [index, row] of readVectors('vmiupdate-validate').entries()) {
  test(`vmiupdate-validate ${index}`, async () => {
    assertVerdict(row, await causesOf(row, askingNode[index]));
  });
}
