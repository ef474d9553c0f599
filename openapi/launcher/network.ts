/** What the node agent has made in a pod's network namespace, as the launcher needs to know it. */

export interface LauncherNetwork {
  /** By network name of the VMI's spec. */
  readonly interfaces: Readonly<Record<string, LauncherInterface>>;
}

export type LauncherInterface = TapInterface | PasstInterface;

interface InterfaceInPod {
  /** The pod's interface on the network. */
  readonly podInterface: string;
  /** By which others reach the guest, IPv4 first; none where the node does not know. */
  readonly addresses: readonly string[];
  /** Of the guest's interface. */
  readonly mac: string;
}

/** QEMU opens a tap device; its far end is a bridge in the pod's namespace. */
export interface TapInterface extends InterfaceInPod {
  readonly kind: 'tap';
  /** A persistent tap device that belongs to the launcher's user. */
  readonly device: string;
  readonly mtu: number;
  /** Queue pairs. */
  readonly queues: number;
  /** What the launcher's DHCP server and router advertisements tell; absent where nobody knows the guest's addresses. */
  readonly ipv4?: GuestIPv4;
  readonly ipv6?: GuestIPv6;
}

/** passt gives the guest the pod's own addresses and answers the guest itself. The launcher starts it. */
export interface PasstInterface extends InterfaceInPod {
  readonly kind: 'passt';
}

export interface GuestIPv4 {
  readonly address: string;
  readonly prefixLength: number;
  /** The address that the launcher has on the bridge. */
  readonly server: string;
  readonly gateway?: string;
  /** Beside the one to the gateway. */
  readonly routes: readonly { readonly destination: string; readonly gateway: string }[];
}

export interface GuestIPv6 {
  readonly address: string;
  readonly prefixLength: number;
  /** The bridge's name; what the launcher sends to the guest leaves by it. */
  readonly bridge: string;
  /** Whether the launcher's side of the bridge is the guest's router. */
  readonly isRouter: boolean;
  /** UDP ports of the loopback interface: a datagram to `send` leaves as ICMPv6 on the bridge; the guest's arrive at `receive`. */
  readonly icmp: { readonly send: number; readonly receive: number };
}
