import { execFile } from 'node:child_process';
import { failure } from '../errors.js';
import type { ImageFormat } from './image.js';

/** Creates images; injected so that tests need no qemu-img. */
export interface ImageTool {
  /** A qcow2 file of `bytes`, or over `backing` (a path relative to `path`'s folder) with its size. */
  createQcow2(
    path: string,
    from: { readonly bytes: number } | { readonly backing: string; readonly format: ImageFormat },
  ): Promise<void>;
}

export function qemuImg(binary: string, signal: AbortSignal): ImageTool {
  return {
    createQcow2: (path, from) => {
      const layers =
        'bytes' in from ? [path, String(from.bytes)] : ['-b', from.backing, '-F', from.format, path];
      return run(binary, ['create', '-q', '-f', 'qcow2', ...layers], path, signal);
    },
  };
}

function run(binary: string, argv: readonly string[], path: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      binary,
      argv,
      { signal, timeout: 60_000, env: { LC_ALL: 'C', PATH: process.env['PATH'] } },
      (error, _out, stderr) => {
        if (!error) {
          resolve();
          return;
        }
        if (error.code === 'ENOENT') {
          reject(failure('QEMUMissing', binary));
          return;
        }
        if (/No space left on device|Disk quota exceeded/.test(stderr)) {
          reject(failure('DiskFull', path));
          return;
        }
        const why = stderr.trim().replace(/^qemu-img: /, '') || error.message;
        reject(failure('DiskFailed', path, why));
      },
    );
  });
}
