/** What can go wrong with an image, in one table: the code, and the reason that the pod's container shows. */
export const imageErrorReasons = {
  /** The reference cannot be read. */
  InvalidReference: 'InvalidImageName',
  /** The registry or the layout has no such image, tag or digest. */
  ImageNotFound: 'ErrImagePull',
  /** The image exists, but not for this machine's platform. */
  PlatformNotFound: 'ErrImagePull',
  /** The registry wants other credentials, or the account may not read it. */
  Unauthorized: 'ErrImagePull',
  /** No answer, or none but server errors. */
  RegistryUnreachable: 'ErrImagePull',
  /** The registry limits how often it may be asked. */
  TooManyRequests: 'ErrImagePull',
  /** Content is not what its digest or size says. */
  DigestMismatch: 'ErrImagePull',
  /** A manifest, layer or layout that does not follow its format. */
  Malformed: 'ErrImagePull',
  /** A format that this client does not read. */
  Unsupported: 'ErrImagePull',
  /** The image has no file where the VM expects it. */
  NoDisk: 'ErrImagePull',
  /** More than one file under /disk. */
  AmbiguousDisk: 'ErrImagePull',
  /** The wanted file is a link, a device, or named to escape. */
  UnsafeEntry: 'ErrImagePull',
  /** The node's disk is full. */
  DiskFull: 'ErrImagePull',
  /** imagePullPolicy is Never and the image is not on this node. */
  NotPresent: 'ErrImageNeverPull',
} as const;

export type ImageErrorCode = keyof typeof imageErrorReasons;

/** `message` is a sentence for the VM's owner; it names the image. */
export class ImageError extends Error {
  readonly code: ImageErrorCode;

  constructor(code: ImageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ImageError';
    this.code = code;
  }

  get reason(): string {
    return imageErrorReasons[this.code];
  }
}

export function isImageError(error: unknown, code?: ImageErrorCode): error is ImageError {
  return error instanceof ImageError && (code === undefined || error.code === code);
}
