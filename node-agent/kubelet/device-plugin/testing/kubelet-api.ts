/** The kubelet's device plugin API v1beta1 for the package that speaks all of gRPC: what a kubelet would read and write. */
import type { Client, ClientReadableStream } from '@grpc/grpc-js';
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';
import type { ContainerAllocation, Device } from '../protocol.js';

export interface AllocateResponse {
  readonly container_responses: readonly ContainerAllocation[];
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

const definition = fromJSON(
  { nested: { v1beta1: { nested: { ...messages, ...services } } } },
  { keepCase: true, defaults: true },
);

function methodOf(service: string, name: string): ServiceDefinition[string] {
  // It is a service just above.
  const found = (definition[`v1beta1.${service}`] as ServiceDefinition)[name];
  if (found === undefined) throw new Error(`the definition lacks ${name}`);
  return found;
}

export const registerMethod = methodOf('Registration', 'Register');

export const pluginMethod = (name: string): ServiceDefinition[string] => methodOf('DevicePlugin', name);

export function listAndWatch(client: Client): ClientReadableStream<{ devices: Device[] }> {
  const { path, requestSerialize, responseDeserialize } = pluginMethod('ListAndWatch');
  // As the method's definition says.
  const deserialize = responseDeserialize as (bytes: Buffer) => { devices: Device[] };
  return client.makeServerStreamRequest(path, requestSerialize, deserialize, {});
}
