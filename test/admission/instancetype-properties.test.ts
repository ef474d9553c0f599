/** What holds whatever an instancetype, a preference and a template say. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type {
  VirtualMachineInstancetypeSpec,
  VirtualMachinePreferenceSpec,
} from '../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type { VirtualMachineInstanceSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { expandTemplate } from '../../openapi/instancetype/expand.js';
import { isQuantity } from '../../openapi/quantity.js';
import { preferenceCauses } from '../../apiserver/admission/preference/validate.js';
import { FieldPath } from '../../apiserver/admission/causes.js';
import { shaped } from './arbitrary.js';

// Arbitraries of a definition make values of its generated type.
const specs = shaped('io.kubevirt.v1.VirtualMachineInstanceSpec') as fc.Arbitrary<VirtualMachineInstanceSpec>;
const instancetypes = shaped(
  'io.kubevirt.instancetype.v1beta1.VirtualMachineInstancetypeSpec',
) as fc.Arbitrary<VirtualMachineInstancetypeSpec>;
/** What the schema of the kind lets pass. */
const admitted = instancetypes.filter(({ memory }) => isQuantity(memory.guest));
const preferences = shaped(
  'io.kubevirt.instancetype.v1beta1.VirtualMachinePreferenceSpec',
) as fc.Arbitrary<VirtualMachinePreferenceSpec>;

test('expansion always ends, changes nothing that it was given, and has nothing to add to its result', () => {
  fc.assert(
    fc.property(
      specs,
      fc.option(admitted, { nil: undefined }),
      fc.option(preferences, { nil: undefined }),
      (spec, instancetype, preference) => {
        const before = JSON.stringify({ spec, instancetype, preference });
        const expansion = expandTemplate({ spec }, { instancetype, preference }, undefined);
        assert.equal(JSON.stringify({ spec, instancetype, preference }), before);
        if (expansion.kind === 'conflicts') {
          assert.notDeepEqual(expansion.conflicts, []);
          return;
        }
        const again = expandTemplate(expansion.template, { instancetype: undefined, preference }, undefined);
        assert.equal(JSON.stringify(again), JSON.stringify(expansion));
      },
    ),
  );
});

test('an instancetype and a template that have been brought together conflict from then on', () => {
  fc.assert(
    fc.property(specs, admitted, (spec, instancetype) => {
      const choice = { instancetype, preference: undefined };
      const expansion = expandTemplate({ spec }, choice, undefined);
      if (expansion.kind === 'conflicts') return;
      const again = expandTemplate(expansion.template, choice, undefined);
      const fields = again.kind === 'conflicts' ? again.conflicts.map(({ field }) => field) : [];
      assert.ok(fields.includes('spec.domain.memory.guest'));
      assert.ok(fields.includes('spec.domain.cpu.sockets'));
    }),
  );
});

test('every preference is judged', () => {
  fc.assert(
    fc.property(preferences, (preference) => {
      for (const { message = '' } of preferenceCauses(preference, FieldPath.of('spec')))
        assert.notEqual(message, '');
    }),
  );
});
