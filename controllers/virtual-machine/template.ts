/** Makes the instance of a VM from its template. */
import { createHash } from 'node:crypto';
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';
import { annotations, finalizers } from '../constants.js';
import { controllerReference } from '../runtime/writes.js';

export function instanceOf(vm: VirtualMachine, paused: boolean): New<VirtualMachineInstance> {
  const { metadata, spec } = vm.spec.template;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: vm.metadata.name,
      ...(vm.metadata.namespace === undefined ? {} : { namespace: vm.metadata.namespace }),
      ...(metadata?.labels === undefined ? {} : { labels: metadata.labels }),
      annotations: {
        ...metadata?.annotations,
        [annotations.virtualMachineGeneration]: String(vm.metadata.generation ?? 0),
        [annotations.templateDigest]: templateDigest(vm),
      },
      finalizers: [finalizers.virtualMachineInstance],
      ownerReferences: [controllerReference(vm)],
    },
    spec: withStableFirmware(vm, spec ?? { domain: { devices: {} } }, paused),
  };
}

/** A guest keeps its identity over restarts: unless it has one, its firmware gets the VM's UID. */
function withStableFirmware(
  vm: VirtualMachine,
  spec: VirtualMachineInstanceSpec,
  paused: boolean,
): VirtualMachineInstanceSpec {
  const firmware = spec.domain.firmware;
  return {
    ...spec,
    domain: { ...spec.domain, firmware: { ...firmware, uuid: firmware?.uuid ?? vm.metadata.uid } },
    ...(paused ? { startStrategy: 'Paused' } : {}),
  };
}

/** Equal for templates that mean the same. */
export function templateDigest(vm: VirtualMachine): string {
  return digestOf(vm.spec.template.spec ?? {});
}

/** Equal for values that are the same but for the order of their fields. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16);
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}

/** The VM has been changed in a way that its present instance does not show. */
export function differsFromTemplate(vm: VirtualMachine, vmi: VirtualMachineInstance): boolean {
  const digest = vmi.metadata.annotations?.[annotations.templateDigest];
  return digest !== undefined && digest !== templateDigest(vm);
}
