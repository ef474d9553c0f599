/** What the launcher serves on the bridges that the node agent has made: addresses, routes and names for the guest. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { interfacesOf } from '../../openapi/launcher/interfaces.js';
import type { LauncherNetwork, TapInterface } from '../../openapi/launcher/network.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../log.js';
import { DhcpServer, type DhcpLease } from './dhcp-server.js';
import { Dhcpv6Server, type Dhcpv6Lease } from './dhcpv6-server.js';
import { podNameService, type NameService } from './name-service.js';
import { RouterAdvertiser } from './router-advertisement.js';

export interface GuestNetworkOptions {
  readonly vmi: VirtualMachineInstance;
  readonly network: LauncherNetwork;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly names?: NameService;
}

interface Service {
  listen(): Promise<void>;
  close(): void;
}

export class GuestNetwork {
  private readonly services: readonly Service[];

  constructor(options: GuestNetworkOptions) {
    const { clock, logger, names = podNameService() } = options;
    const taps = tapsOf(options);
    const leases = taps.flatMap((tap) => leaseOf(tap, options, names));
    const ipv6 = taps.flatMap(({ tap }) => (tap.ipv6 === undefined ? [] : [{ ...tap, ipv6: tap.ipv6 }]));
    this.services = [
      new DhcpServer(leases, logger),
      new Dhcpv6Server(
        ipv6.map((tap): Dhcpv6Lease => ({ ipv6: tap.ipv6, serverMac: tap.mac, names })),
        logger,
      ),
      ...ipv6.map((tap) => new RouterAdvertiser({ ipv6: tap.ipv6, mtu: tap.mtu, names }, clock, logger)),
    ];
  }

  /** Rejects with the error of the first port that can not be had. */
  async listen(): Promise<void> {
    for (const service of this.services) await service.listen();
  }

  stop(): void {
    for (const service of this.services) service.close();
  }
}

interface NamedTap {
  readonly name: string;
  readonly tap: TapInterface;
}

function tapsOf({ network }: GuestNetworkOptions): readonly NamedTap[] {
  return Object.entries(network.interfaces).flatMap(([name, tap]) =>
    tap.kind === 'tap' ? [{ name, tap }] : [],
  );
}

function leaseOf(
  { name, tap: { mac, mtu, ipv4 } }: NamedTap,
  { vmi }: GuestNetworkOptions,
  names: NameService,
): DhcpLease[] {
  if (ipv4 === undefined) return [];
  const options = interfacesOf(vmi).find((entry) => entry.name === name)?.dhcpOptions;
  const hostName = vmi.spec.hostname ?? vmi.metadata.name.replace(/\..*$/, '');
  return [{ mac, ipv4, mtu, hostName, names, options }];
}
