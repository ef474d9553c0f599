import { readFileSync, writeFileSync } from 'node:fs';
import type { DomainStatus } from '../openapi/launcher/protocol.js';
import { podLayout } from '../openapi/launcher/protocol.js';
import { terminationMessage } from '../openapi/launcher/termination.js';
import { errorCode } from './errors.js';
import { imageHolders } from './disks/image-container.js';
import type { Logger } from './log.js';

/**
 * What a launcher leaves behind in a pod: its last word where the kubelet keeps it, and no container that would keep the pod from being
 * at its end.
 */
export async function endPod(messageFile: string | undefined, logger: Logger): Promise<void> {
  if (messageFile === undefined) return;
  try {
    const status = JSON.parse(readFileSync(podLayout.status, 'utf8')) as DomainStatus;
    writeFileSync(messageFile, terminationMessage(status));
  } catch (error) {
    logger.error('the termination message could not be written', { error: String(error) });
  }
  for (const pid of await imageHolders()) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      if (errorCode(error) !== 'ESRCH')
        logger.error('an image holder goes on', { pid, error: String(error) });
    }
  }
}
