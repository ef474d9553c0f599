/** `kubectl virt soft-reboot`. */
import { guestAction } from './guest-action.js';

export const softReboot = guestAction({
  name: 'soft-reboot',
  summary: 'ask a guest to reboot by itself',
  subresource: 'softreboot',
  told: 'was asked to reboot',
  dryRun: false,
});
