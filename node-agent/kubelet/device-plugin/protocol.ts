/** The kubelet's device plugin API v1beta1, as far as this agent speaks it: gRPC over unix sockets in one directory. */
import { content, list, message, text, type Fields } from '../../../openapi/documents/protobuf-writer.js';
import { readFields } from '../../../openapi/protobuf-wire.js';

export const apiVersion = 'v1beta1';
export const methods = {
  register: '/v1beta1.Registration/Register',
  options: '/v1beta1.DevicePlugin/GetDevicePluginOptions',
  listAndWatch: '/v1beta1.DevicePlugin/ListAndWatch',
  allocate: '/v1beta1.DevicePlugin/Allocate',
} as const;
/** The kubelet's own socket. */
export const kubeletSocket = 'kubelet.sock';

export interface Device {
  readonly ID: string;
  readonly health: 'Healthy' | 'Unhealthy';
}

export interface RegisterRequest {
  readonly version: string;
  /** The plugin's socket, in the same directory. */
  readonly endpoint: string;
  readonly resource_name: string;
}

/** What the runtime gives to the container. */
export interface ContainerAllocation {
  readonly envs?: Readonly<Record<string, string>>;
  readonly devices: readonly DeviceNode[];
}

export interface DeviceNode {
  readonly container_path: string;
  readonly host_path: string;
  /** Of `r`ead, `w`rite, `m`knod. */
  readonly permissions: string;
}

const device = message({ ID: [1, text], health: [2, text] });
const registration: Fields = { version: [1, text], endpoint: [2, text], resource_name: [3, text] };
const container = message({
  envs: [1, list(message({ key: [1, text], value: [2, text] }))],
  devices: [3, list(message({ container_path: [1, text], host_path: [2, text], permissions: [3, text] }))],
});

/** A message without fields: the request or answer of methods that need none. */
export const empty = Buffer.alloc(0);

export function writeRegistration(request: RegisterRequest): Buffer {
  return content(request, registration);
}

export function writeDevices(devices: readonly Device[]): Buffer {
  return list(device)(1, devices);
}

export function writeAllocations(allocations: readonly ContainerAllocation[]): Buffer {
  const containers = allocations.map(({ envs = {}, devices }) => ({
    envs: Object.entries(envs).map(([key, value]) => ({ key, value })),
    devices,
  }));
  return list(container)(1, containers);
}

/** The IDs that each container is to get. Throws `WireError` for what is no AllocateRequest. */
export function readAllocateRequest(bytes: Uint8Array): string[][] {
  return messages(bytes).map((request) => messages(request).map((id) => Buffer.from(id).toString()));
}

/** The values of field 1, which all repeated fields of an AllocateRequest are. */
function messages(bytes: Uint8Array): Uint8Array[] {
  return [...readFields(bytes)].flatMap(({ number, value }) =>
    number === 1 && typeof value !== 'number' ? [value] : [],
  );
}
