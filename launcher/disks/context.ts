import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { MachineSettings } from '../../openapi/launcher/settings.js';
import type { Logger } from '../log.js';
import type { ImageTool } from './qemu-img.js';

export interface DiskContext {
  readonly vmi: VirtualMachineInstance;
  readonly settings: MachineSettings;
  readonly imageTool: ImageTool;
  readonly logger: Logger;
}
