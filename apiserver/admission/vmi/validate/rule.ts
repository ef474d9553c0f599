import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import type { FieldPath } from '../../causes.js';

/** One concern of a VMI spec. Pure; never throws, whatever the spec holds (its schema has been checked before). */
export type SpecRule = (input: {
  readonly spec: VirtualMachineInstanceSpec;
  /** Where the spec stands: `spec` of a VMI, `spec.template.spec` of a VM. */
  readonly at: FieldPath;
  readonly configuration: KubeVirtConfiguration;
}) => StatusCause[];
