/** `kubectl virt pause`. */
import { guestAction } from './guest-action.js';

export const pauseCommand = guestAction({
  name: 'pause',
  summary: 'stop a guest where it is; its memory is kept',
  subresource: 'pause',
  told: 'was paused',
  dryRun: true,
});
