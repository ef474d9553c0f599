/** All device plugins of a node: those of the kernel's devices, and those of the host devices that the configuration permits. */
import type { KubeVirt } from '../../../openapi/generated/types/kubevirt_v1.js';
import { kubeVirtFrom } from '../../../controllers/runtime/configuration.js';
import type { Informer } from '../../../controllers/runtime/informer.js';
import { deviceShares } from '../../configuration.js';
import { aborted, linkSignals } from '../../signals.js';
import { DevicePlugin, type DevicePluginOptions } from './device-plugin.js';
import { kernelDevices, type DeviceSource } from './device-source.js';
import { hostDevices } from './host-devices.js';

interface Running {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export class DevicePlugins {
  /** By what was configured: another selector of the same resource is another plugin. */
  private readonly permitted = new Map<string, Running>();

  constructor(
    private readonly informer: Informer<KubeVirt>,
    private readonly options: DevicePluginOptions,
  ) {}

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const shares = (): number => deviceShares(kubeVirtFrom(this.informer)?.spec.configuration ?? {});
    await this.informer.synced(signal);
    const fixed = kernelDevices(shares).map((source) => new DevicePlugin(source, this.options).run(signal));
    const follow = (): void => this.follow(signal);
    const remove = this.informer.addHandler({ add: follow, update: follow, delete: follow });
    try {
      await aborted(signal);
    } finally {
      remove();
      await Promise.all([...fixed, ...[...this.permitted.values()].map(({ done }) => done)]);
    }
  }

  private follow(signal: AbortSignal): void {
    const wanted = new Map<string, DeviceSource>();
    for (const { spec } of this.informer.list()) {
      const {
        pciHostDevices = [],
        mediatedDevices = [],
        usb = [],
      } = spec.configuration?.permittedHostDevices ?? {};
      for (const one of [
        ...pciHostDevices.map((device) => ({ pciHostDevices: [device] })),
        ...mediatedDevices.map((device) => ({ mediatedDevices: [device] })),
        ...usb.map((device) => ({ usb: [device] })),
      ])
        for (const source of hostDevices(one)) wanted.set(JSON.stringify(one), source);
    }
    for (const [key, { stop }] of this.permitted) if (!wanted.has(key)) stop.abort();
    for (const [key, source] of wanted) if (!this.permitted.has(key)) this.start(key, source, signal);
  }

  private start(key: string, source: DeviceSource, signal: AbortSignal): void {
    const stop = new AbortController();
    const link = linkSignals(signal, stop.signal);
    const done = new DevicePlugin(source, this.options).run(link.signal).finally(() => {
      link.dispose();
      this.permitted.delete(key);
      // It may have been asked for again while it ended.
      if (!signal.aborted) this.follow(signal);
    });
    this.permitted.set(key, { stop, done });
  }
}
