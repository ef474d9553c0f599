import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ImageTool } from './qemu-img.js';

export interface DiskContext {
  readonly vmi: VirtualMachineInstance;
  readonly imageTool: ImageTool;
}
