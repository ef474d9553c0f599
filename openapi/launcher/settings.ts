/** What the cluster's configuration says of each machine that starts. One that runs keeps what it was started with. */
export interface MachineSettings {
  /** Seconds between two looks at the statistics of the guest's memory; 0: nobody looks. */
  readonly balloonStatsPeriod: number;
  /** Whether guests may tell which pages they do not use. */
  readonly freePageReporting: boolean;
  /** For machines whose VMI does not say. */
  readonly logSerialConsole: boolean;
  /** Bytes that stay free on a file system when a disk image is made on it. */
  readonly minimumReserve: number;
  /** Percentage of a disk image by which it may be smaller than was asked for, where there is less space. */
  readonly toleratedLessSpace: number;
}

/** KubeVirt's, where nothing is configured. */
export const defaultMachineSettings: MachineSettings = {
  balloonStatsPeriod: 10,
  freePageReporting: true,
  logSerialConsole: true,
  minimumReserve: 131_072,
  toleratedLessSpace: 10,
};
