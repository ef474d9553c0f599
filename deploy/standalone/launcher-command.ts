import { fileURLToPath } from 'node:url';
import { launcherEnvironment, launcherNodeFlags } from '../../launcher/node-flags.js';
import type { LauncherCommand } from '../../node-agent/pod-runtime/launcher-process.js';
import type { StandaloneOptions } from './options.js';

/** How a node agent starts a launcher: this Node, and the launcher's bundle beside this one. */
export function launcherCommand(
  options: Pick<StandaloneOptions, 'qemu' | 'launcherBundle'>,
): LauncherCommand {
  const bundle = options.launcherBundle ?? fileURLToPath(new URL('./launcher.js', import.meta.url));
  return {
    command: [
      process.execPath,
      ...launcherNodeFlags,
      bundle,
      ...(options.qemu === undefined ? [] : ['--qemu', options.qemu]),
    ],
    environment: { ...launcherEnvironment, PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin' },
  };
}
