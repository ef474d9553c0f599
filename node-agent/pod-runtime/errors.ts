/** Why a pod cannot start (yet). `reason` is what its container and an event show; `message` is a sentence for the user. */
export class PodError extends Error {
  constructor(
    readonly reason: PodErrorReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'PodError';
  }
}

export type PodErrorReason =
  /** A volume's secret, config map or claim is missing or not as it must be. */
  | 'FailedMount'
  /** The pod asks for what this runtime does not do. */
  | 'Unsupported'
  /** The pod's network cannot be made; the kubelet's word for it. */
  | 'FailedCreatePodSandBox'
  /** The launcher cannot be started. */
  | 'StartError'
  /** The node's disk is full. */
  | 'DiskFull';
