import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import type { FieldPath } from '../../causes.js';

/** One concern of a change that a part of this system makes to the spec of a VMI. Pure. */
export type UpdateRule = (input: {
  readonly vmi: VirtualMachineInstance;
  readonly old: VirtualMachineInstance;
  /** Where the spec stands. */
  readonly at: FieldPath;
  readonly configuration: KubeVirtConfiguration;
}) => StatusCause[];
