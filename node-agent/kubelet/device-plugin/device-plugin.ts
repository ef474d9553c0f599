/** One device plugin: serves a resource to the kubelet, and registers it anew whenever the kubelet has started anew. */
import { watch } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  status as codes,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { Backoff } from '../../../controllers/runtime/backoff.js';
import { sleep, type Clock } from '../../../controllers/runtime/clock.js';
import type { Logger } from '../../../controllers/runtime/logger.js';
import { isNotExist } from '../../files.js';
import { Wakeup } from '../../wakeup.js';
import type { DeviceSource } from './device-source.js';
import {
  apiVersion,
  kubeletSocket,
  loadApi,
  type AllocateRequest,
  type AllocateResponse,
  type Device,
  type RegisterRequest,
} from './protocol.js';

export interface DevicePluginOptions {
  /** The kubelet's directory of device plugin sockets. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

type Stream = ServerWritableStream<unknown, unknown>;

/** How often the devices are looked at again. */
const lookMilliseconds = 10_000;
const registerMilliseconds = 5000;

export class DevicePlugin {
  private readonly api = loadApi();
  private readonly streams = new Set<Stream>();
  private readonly socket: string;
  /** What the kubelet was told last. */
  private told: readonly Device[] = [];

  constructor(
    private readonly source: DeviceSource,
    private readonly options: DevicePluginOptions,
  ) {
    this.socket = `nativirt-${source.resource.replaceAll(/[^A-Za-z0-9.-]/g, '_')}.sock`;
  }

  /** Until the signal aborts. A kubelet that is not there is waited for. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, random } = this.options;
    const backoff = new Backoff({ minimum: 200, maximum: 10_000, random });
    while (!signal.aborted) {
      try {
        await this.serve(signal, () => backoff.reset());
      } catch (error) {
        if (isStopped(signal)) return;
        // A kubelet that is not there yet is nothing to be told of.
        const level = isNotExist(error) ? 'debug' : 'warn';
        logger[level]({ err: error, resource: this.source.resource }, 'a device plugin starts anew');
        await sleep(clock, backoff.next(), signal).catch(() => undefined);
      }
    }
  }

  /** Until the kubelet starts anew, which removes the sockets of all plugins. */
  private async serve(signal: AbortSignal, registered: () => void): Promise<void> {
    const path = join(this.options.directory, this.socket);
    await rm(path, { force: true });
    const server = new Server();
    server.addService(this.api.devicePlugin, this.handlers());
    const change = new Wakeup();
    const notice = (): void => change.notice();
    const watcher = watch(this.options.directory, notice);
    watcher.on('error', notice);
    signal.addEventListener('abort', notice, { once: true });
    try {
      await bind(server, path);
      const [own, kubelet] = await Promise.all([identityOf(path), this.register()]);
      registered();
      this.options.logger.info({ resource: this.source.resource }, 'the kubelet knows a device plugin');
      while (!isStopped(signal) && (await this.isCurrent(path, own, kubelet))) {
        const cancel = this.options.clock.timer(lookMilliseconds, notice);
        await change.wait();
        cancel();
        await this.tell();
      }
    } finally {
      signal.removeEventListener('abort', notice);
      watcher.close();
      server.forceShutdown();
      this.streams.clear();
      await rm(path, { force: true });
    }
  }

  private async isCurrent(path: string, own: string, kubelet: string): Promise<boolean> {
    try {
      return (await identityOf(path)) === own && (await identityOf(this.kubeletSocket)) === kubelet;
    } catch (error) {
      if (isNotExist(error)) return false;
      throw error;
    }
  }

  private get kubeletSocket(): string {
    return join(this.options.directory, kubeletSocket);
  }

  /** Resolves with the identity of the kubelet's socket. */
  private async register(): Promise<string> {
    const found = await identityOf(this.kubeletSocket);
    const client = new Client(`unix://${this.kubeletSocket}`, credentials.createInsecure());
    try {
      const request: RegisterRequest = {
        version: apiVersion,
        endpoint: this.socket,
        resource_name: this.source.resource,
      };
      const { path, requestSerialize, responseDeserialize } = this.api.register;
      await new Promise<void>((resolve, reject) => {
        const deadline = Date.now() + registerMilliseconds;
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          { deadline },
          (error) => {
            if (error) reject(error);
            else resolve();
          },
        );
      });
      return found;
    } finally {
      client.close();
    }
  }

  private handlers() {
    return {
      GetDevicePluginOptions: (_call: unknown, answer: sendUnaryData<object>): void => answer(null, {}),
      ListAndWatch: (stream: Stream): void => {
        this.streams.add(stream);
        const forget = (): void => void this.streams.delete(stream);
        stream.on('cancelled', forget).on('close', forget).on('error', forget);
        this.source.list().then(
          (devices) => stream.write({ devices }),
          (error: unknown) => stream.destroy(error instanceof Error ? error : new Error(String(error))),
        );
      },
      Allocate: (
        { request }: ServerUnaryCall<AllocateRequest, AllocateResponse>,
        answer: sendUnaryData<AllocateResponse>,
      ): void => {
        this.allocate(request).then(
          (response) => answer(null, response),
          (error: unknown) => {
            const details = error instanceof Error ? error.message : String(error);
            answer({ code: codes.INVALID_ARGUMENT, details });
          },
        );
      },
    };
  }

  private async allocate({ container_requests = [] }: AllocateRequest): Promise<AllocateResponse> {
    const responses = container_requests.map(async ({ devices_ids = [] }) =>
      this.source.allocate(devices_ids),
    );
    return { container_responses: await Promise.all(responses) };
  }

  private async tell(): Promise<void> {
    const devices = await this.source.list();
    if (isDeepStrictEqual(devices, this.told)) return;
    this.told = devices;
    for (const stream of this.streams) stream.write({ devices });
  }
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Tells a file from a later one of the same name, which may have the same inode. */
async function identityOf(path: string): Promise<string> {
  const { ino, ctimeMs } = await stat(path);
  return `${ino}/${ctimeMs}`;
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
