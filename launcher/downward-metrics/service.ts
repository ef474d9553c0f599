import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { asError, type Clock } from '../clock.js';
import { madeImage } from '../disks/overlay.js';
import { LineSplitter } from '../lines.js';
import type { Logger } from '../log.js';
import { updateMetricsDisk } from './disk.js';
import { collectMetrics, metricsXml } from './report.js';

const diskIntervalMs = 5000;
/** A guest that writes more without an end of line speaks something else. */
const maxRequestBytes = 1024;
const request = /^GET \/metrics\/XML\s*$/;

export interface MetricsOptions {
  readonly vmi: VirtualMachineInstance;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Tells the guest about its node: on its metrics channel whenever it asks, and on its metrics disks every few seconds. */
export class DownwardMetrics {
  private server: Server | undefined;
  private cancelUpdate = () => {};
  private stopped = false;
  private qemuPid: number | undefined;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly options: MetricsOptions) {}

  /** Before QEMU starts, which connects to the channel's socket. */
  async listen(): Promise<void> {
    if (!this.options.vmi.spec.domain.devices.downwardMetrics) return;
    rmSync(podLayout.downwardMetricsSocket, { force: true });
    const server = createServer((socket) => this.serve(socket));
    this.server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(podLayout.downwardMetricsSocket, resolve);
    });
  }

  /** Once QEMU is there; resolves when the disks have their first metrics. */
  async follow(qemuPid: number): Promise<void> {
    this.qemuPid = qemuPid;
    const disks = (this.options.vmi.spec.volumes ?? []).filter(({ downwardMetrics }) => downwardMetrics);
    if (disks.length === 0) return;
    const paths = disks.map(({ name }) => madeImage(name, 'metrics'));
    await this.updateDisks(paths);
  }

  stop(): void {
    this.stopped = true;
    this.cancelUpdate();
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', (error) => this.warn('the metrics channel failed', error));
    const lines = new LineSplitter(maxRequestBytes);
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const line of lines.push(chunk)) if (request.test(line)) socket.write(`${this.report()}\n`);
      } catch (error) {
        this.warn('the guest asked for metrics in a way that is not understood', error);
        lines.clear();
      }
    });
  }

  private async updateDisks(paths: readonly string[]): Promise<void> {
    try {
      const xml = this.report();
      for (const path of paths) await updateMetricsDisk(path, xml);
    } catch (error) {
      this.warn('a metrics disk could not be written', error);
    }
    if (this.stopped) return;
    this.cancelUpdate = this.options.clock.after(diskIntervalMs, () => void this.updateDisks(paths));
  }

  private warn(what: string, error: unknown): void {
    this.options.logger.warn(what, { error: asError(error).message });
  }

  private report(): string {
    const { vmi, clock } = this.options;
    return metricsXml(collectMetrics({ vmi, qemuPid: this.qemuPid, now: clock.now() }));
  }
}
