import assert from 'node:assert/strict';
import { virtualMachineCloneDefaults } from '../../apiserver/admission/vmclone/mutate.js';
import type { VirtualMachineClone } from '../../openapi/generated/types/kubevirt_clone_v1beta1.js';
import { testMutations } from './kind-vectors.js';

testMutations('clone-create-mutate', {
  plugin: virtualMachineCloneDefaults((bytes) => new Uint8Array(bytes)),
  /** The suffix is random; that of the recording has characters which never occur in ours. */
  scrub(object) {
    const clone = object as VirtualMachineClone;
    const target = clone.spec.target;
    assert.ok(target !== undefined);
    return {
      ...clone,
      spec: { ...clone.spec, target: { ...target, name: target.name.replace(/-(12345|bbbbb)$/, '-*') } },
    };
  },
});
