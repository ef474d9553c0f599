/** A file or block device that holds a disk. Paths are relative to the pod directory. */
export interface ImageFile {
  readonly path: string;
  readonly format: ImageFormat;
  readonly storage: 'file' | 'block';
}

export type ImageFormat = 'raw' | 'qcow2';

/** What a volume became, ready to be a disk of the machine. */
export interface DiskImage {
  readonly volume: string;
  readonly file: ImageFile;
  /** Read-only layer under an overlay. */
  readonly backing: ImageFile | undefined;
  /** Never written, whatever the disk says: a read-only claim. */
  readonly readOnly: boolean;
  /** Its file system can bypass the page cache (O_DIRECT). */
  readonly directIO: boolean;
  /** Its space was reserved in advance. */
  readonly preallocated?: boolean;
  /** In bytes, where the disk is to show those of its volume. */
  readonly blockSize?: BlockSize | undefined;
}

export interface BlockSize {
  readonly logical: number;
  readonly physical: number;
  readonly discardGranularity?: number;
}
