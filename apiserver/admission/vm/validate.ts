/** Validation of a VirtualMachine: how it runs, and the spec that its instances will get. */
import type { VirtualMachine, VirtualMachineSpec } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../openapi/meta.js';
import { deepEqual } from '../../apply/typed-value.js';
import { FieldPath, invalid, unknownWord } from '../causes.js';
import type { AdmissionPlugin } from '../interface.js';
import { specCauses } from '../vmi/validate/spec.js';

const runStrategies = ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once', 'WaitAsReceiver'];

export function virtualMachineValidation(): AdmissionPlugin {
  return {
    name: 'VirtualMachineValidation',
    handles: (request) =>
      request.group === 'kubevirt.io' &&
      request.resource === 'virtualmachines' &&
      request.operation !== 'DELETE' &&
      request.subresource === undefined,
    validate(request, { configuration }) {
      // The resource says so: see `handles`.
      const vm = request.object as VirtualMachine;
      const old = request.oldObject as VirtualMachine | undefined;
      // What was admitted under another configuration may still be labelled, and must be able to end.
      if (vm.metadata.deletionTimestamp !== undefined || (old !== undefined && deepEqual(old.spec, vm.spec)))
        return [];
      const at = FieldPath.of('spec');
      const template = vm.spec.template.spec;
      return [
        ...runCauses(vm.spec, at),
        ...(template === undefined ? [] : specCauses(template, at.child('template', 'spec'), configuration)),
      ];
    },
  };
}

function runCauses({ running, runStrategy }: VirtualMachineSpec, at: FieldPath): StatusCause[] {
  if (running !== undefined && runStrategy !== undefined) {
    return [
      invalid(at.child('running'), 'running and runStrategy exclude each other: running is the older one'),
    ];
  }
  if (running === undefined && runStrategy === undefined) {
    return [invalid(at.child('running'), `runStrategy must be set: one of ${runStrategies.join(', ')}`)];
  }
  if (runStrategy === undefined || runStrategies.includes(runStrategy)) return [];
  return [invalid(at.child('runStrategy'), unknownWord(runStrategy, runStrategies))];
}
