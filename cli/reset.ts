/** `kubectl virt reset`. */
import { guestAction } from './guest-action.js';

export const reset = guestAction({
  name: 'reset',
  summary: 'press the reset button of a machine',
  subresource: 'reset',
  told: 'was reset',
  dryRun: false,
});
