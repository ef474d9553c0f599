/** What a launcher counts of its machine, for metrics. What the host or the guest does not tell is absent. */
export interface MachineStatistics {
  /** Time that QEMU has used. Seconds. */
  readonly cpu: { readonly user: number; readonly system: number };
  readonly vcpus: readonly VcpuStatistics[];
  readonly memory: MemoryStatistics;
  readonly disks: readonly DiskStatistics[];
  readonly interfaces: readonly InterfaceStatistics[];
  /** Of the guest agent. */
  readonly fileSystems: readonly FileSystemStatistics[];
}

/** Seconds. */
export interface VcpuStatistics {
  readonly id: number;
  readonly used: number;
  /** It was runnable and waited for a CPU of the host. */
  readonly delayed: number;
  /** It waited for the host's disks. */
  readonly blocked: number;
}

/** Bytes, but for the faults. */
export interface MemoryStatistics {
  /** By the spec. */
  readonly domain: number;
  /** Of QEMU. */
  readonly resident: number;
  /** What the balloon leaves to the guest. */
  readonly balloon?: number;
  readonly guest?: {
    readonly total?: number;
    readonly free?: number;
    readonly available?: number;
    readonly cached?: number;
    readonly swapIn?: number;
    readonly swapOut?: number;
    readonly majorFaults?: number;
    readonly minorFaults?: number;
  };
}

export interface Traffic {
  readonly operations: number;
  readonly bytes: number;
  /** Seconds. */
  readonly time: number;
}

export interface DiskStatistics {
  /** Of the spec. */
  readonly name: string;
  readonly read: Traffic;
  readonly write: Traffic;
  readonly flush: Omit<Traffic, 'bytes'>;
}

export interface Packets {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
}

/** As the guest sees it. */
export interface InterfaceStatistics {
  /** Of the spec. */
  readonly name: string;
  readonly receive: Packets;
  readonly transmit: Packets;
}

/** Bytes. */
export interface FileSystemStatistics {
  readonly disk: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly capacity: number;
  readonly used: number;
}
