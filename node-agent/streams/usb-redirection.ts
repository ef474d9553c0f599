/** USB devices of a client: QEMU has a few sockets for them, each for one device at a time. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { connectUnix } from '../unix-socket.js';
import type { ExclusiveSessions } from './exclusive-sessions.js';
import { Refusal } from './refusal.js';
import type { StreamTarget } from './stream-target.js';

/** The first socket that nobody uses. Rejects with `Refusal`, or LauncherConnectionError. */
export async function openUsbRedirection(
  podDirectory: string,
  uid: string,
  sessions: ExclusiveSessions,
  signal: AbortSignal,
): Promise<StreamTarget> {
  for (let index = 0; ; index++) {
    const path = join(podDirectory, `${podLayout.usbRedirectionSockets}${index}.sock`);
    if (!existsSync(path)) {
      const why =
        index === 0 ? 'the VMI has no USB redirection' : `all ${index} redirected devices are in use`;
      throw new Refusal('Conflict', why);
    }
    const key = `${uid}/usbredir/${index}`;
    if (!sessions.isFree(key)) continue;
    const { release, takenOver } = sessions.claim(key, true, '');
    try {
      return { socket: await connectUnix(path, signal), carries: 'bytes', takenOver, release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
