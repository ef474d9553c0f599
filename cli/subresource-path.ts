/** Paths of what the HTTP client has no kind for. */
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';

export function instancePath({ metadata }: VirtualMachineInstance, subresource: string): string {
  const namespace = encodeURIComponent(metadata.namespace ?? '');
  const name = encodeURIComponent(metadata.name);
  return `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/${name}/${subresource}`;
}
