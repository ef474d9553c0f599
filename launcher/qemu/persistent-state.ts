import { podLayout } from '../../openapi/launcher/protocol.js';
import { lookThrough } from '../disks/files.js';
import { failure } from '../errors.js';

/**
 * The directory whose files outlive the pod.
 * @throws LauncherError `VolumeMissing`
 */
export async function persistentState(): Promise<string> {
  const place = podLayout.persistentState;
  if ((await lookThrough(place))?.isDirectory()) return place;
  throw failure('VolumeMissing', 'persistent-state', place);
}
