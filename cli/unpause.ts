/** `kubectl virt unpause`. */
import { guestAction } from './guest-action.js';

export const unpause = guestAction({
  name: 'unpause',
  summary: 'let a paused guest go on',
  subresource: 'unpause',
  told: 'was unpaused',
  dryRun: true,
});
