/** The kubelet's device plugin API v1beta1, as far as this agent speaks it: gRPC over unix sockets in one directory. */
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';

export const apiVersion = 'v1beta1';
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

export interface AllocateRequest {
  readonly container_requests?: readonly { readonly devices_ids?: readonly string[] }[];
}

export interface AllocateResponse {
  readonly container_responses: readonly ContainerAllocation[];
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

type Field =
  | { type: string; id: number; rule?: 'repeated' }
  /** A map. */
  | { keyType: string; type: string; id: number };

interface Method {
  requestType: string;
  responseType: string;
  responseStream: boolean;
  comment: string;
}

const method = (requestType: string, responseType: string, responseStream = false): Method => ({
  requestType,
  responseType,
  responseStream,
  comment: '',
});
const field = (type: string, id: number): Field => ({ type, id });
const repeated = (type: string, id: number): Field => ({ type, id, rule: 'repeated' });

/** Only fields that are used: others are passed over. */
const messages: Record<string, { fields: Record<string, Field> }> = {
  Empty: { fields: {} },
  DevicePluginOptions: { fields: { pre_start_required: field('bool', 1) } },
  RegisterRequest: {
    fields: {
      version: field('string', 1),
      endpoint: field('string', 2),
      resource_name: field('string', 3),
      options: field('DevicePluginOptions', 4),
    },
  },
  Device: { fields: { ID: field('string', 1), health: field('string', 2) } },
  ListAndWatchResponse: { fields: { devices: repeated('Device', 1) } },
  ContainerAllocateRequest: { fields: { devices_ids: repeated('string', 1) } },
  AllocateRequest: { fields: { container_requests: repeated('ContainerAllocateRequest', 1) } },
  DeviceSpec: {
    fields: {
      container_path: field('string', 1),
      host_path: field('string', 2),
      permissions: field('string', 3),
    },
  },
  ContainerAllocateResponse: {
    fields: { envs: { keyType: 'string', type: 'string', id: 1 }, devices: repeated('DeviceSpec', 3) },
  },
  AllocateResponse: { fields: { container_responses: repeated('ContainerAllocateResponse', 1) } },
};

const services: Record<string, { methods: Record<string, Method> }> = {
  Registration: { methods: { Register: method('RegisterRequest', 'Empty') } },
  DevicePlugin: {
    methods: {
      GetDevicePluginOptions: method('Empty', 'DevicePluginOptions'),
      ListAndWatch: method('Empty', 'ListAndWatchResponse', true),
      Allocate: method('AllocateRequest', 'AllocateResponse'),
    },
  },
};

export interface DevicePluginApi {
  readonly register: ServiceDefinition[string];
  readonly devicePlugin: ServiceDefinition;
}

let loaded: DevicePluginApi | undefined;

export function loadApi(): DevicePluginApi {
  return (loaded ??= defineApi());
}

function defineApi(): DevicePluginApi {
  const definition = fromJSON(
    { nested: { v1beta1: { nested: { ...messages, ...services } } } },
    { keepCase: true, defaults: true },
  );
  // Both are services just above.
  const registration = definition['v1beta1.Registration'] as ServiceDefinition;
  const devicePlugin = definition['v1beta1.DevicePlugin'] as ServiceDefinition;
  const { Register: register } = registration;
  if (register === undefined) throw new Error('the definition lacks Register');
  return { register, devicePlugin };
}
