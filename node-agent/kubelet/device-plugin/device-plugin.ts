/** One device plugin: serves a resource to the kubelet, and registers it anew whenever the kubelet has started anew. */
import { watch } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Backoff } from '../../../controllers/runtime/backoff.js';
import { sleep, type Clock } from '../../../controllers/runtime/clock.js';
import type { Logger } from '../../../controllers/runtime/logger.js';
import { isNotExist } from '../../files.js';
import { linkSignals } from '../../signals.js';
import { Wakeup } from '../../wakeup.js';
import type { DeviceSource } from './device-source.js';
import { callGrpc } from './grpc-call.js';
import { serveGrpc, type AnswerStream, type GrpcMethod, type GrpcMethods } from './grpc-server.js';
import {
  apiVersion,
  empty,
  kubeletSocket,
  methods,
  readAllocateRequest,
  writeAllocations,
  writeDevices,
  writeRegistration,
  type Device,
} from './protocol.js';

export interface DevicePluginOptions {
  /** The kubelet's directory of device plugin sockets. */
  readonly directory: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
}

/** How often the devices are looked at again. */
const lookMilliseconds = 10_000;
const registerMilliseconds = 5000;

export class DevicePlugin {
  private readonly streams = new Set<AnswerStream>();
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
    const change = new Wakeup();
    const notice = (): void => change.notice();
    const watcher = watch(this.options.directory, notice);
    watcher.on('error', notice);
    signal.addEventListener('abort', notice, { once: true });
    try {
      while (!(await exists(this.kubeletSocket))) {
        await change.wait();
        if (isStopped(signal)) return;
      }
      await rm(path, { force: true });
      const server = await serveGrpc(path, this.methods());
      try {
        const [own, kubelet] = await Promise.all([identityOf(path), this.register(signal)]);
        registered();
        this.options.logger.info({ resource: this.source.resource }, 'the kubelet knows a device plugin');
        while (!isStopped(signal) && (await this.isCurrent(path, own, kubelet))) {
          const cancel = this.options.clock.timer(lookMilliseconds, notice);
          await change.wait();
          cancel();
          await this.tell();
        }
      } finally {
        server.close();
        await rm(path, { force: true });
      }
    } finally {
      signal.removeEventListener('abort', notice);
      watcher.close();
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
  private async register(stop: AbortSignal): Promise<string> {
    const { clock } = this.options;
    const found = await identityOf(this.kubeletSocket);
    const late = new AbortController();
    const cancel = clock.timer(registerMilliseconds, () => late.abort());
    const link = linkSignals(stop, late.signal);
    try {
      await callGrpc({
        socket: this.kubeletSocket,
        path: methods.register,
        request: writeRegistration({
          version: apiVersion,
          endpoint: this.socket,
          resource_name: this.source.resource,
        }),
        signal: link.signal,
      });
      return found;
    } finally {
      cancel();
      link.dispose();
    }
  }

  private methods(): GrpcMethods {
    return new Map<string, GrpcMethod>([
      [methods.options, { kind: 'unary', answer: () => Promise.resolve(empty) }],
      [methods.listAndWatch, { kind: 'stream', answer: (stream) => this.listAndWatch(stream) }],
      [methods.allocate, { kind: 'unary', answer: (request) => this.allocate(request) }],
    ]);
  }

  private async listAndWatch(stream: AnswerStream): Promise<void> {
    this.streams.add(stream);
    stream.onClose(() => this.streams.delete(stream));
    stream.write(writeDevices(await this.source.list()));
  }

  private async allocate(request: Buffer): Promise<Buffer> {
    const containers = readAllocateRequest(request).map(async (ids) => this.source.allocate(ids));
    return writeAllocations(await Promise.all(containers));
  }

  private async tell(): Promise<void> {
    const devices = await this.source.list();
    if (isDeepStrictEqual(devices, this.told)) return;
    this.told = devices;
    const message = writeDevices(devices);
    for (const stream of this.streams) stream.write(message);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await identityOf(path);
    return true;
  } catch (error) {
    if (isNotExist(error)) return false;
    throw error;
  }
}

/** Tells a file from a later one of the same name, which may have the same inode. */
async function identityOf(path: string): Promise<string> {
  const { ino, ctimeMs } = await stat(path);
  return `${ino}/${ctimeMs}`;
}

function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
