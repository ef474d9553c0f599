/** `kubectl virt guestosinfo`. */
import { guestRead } from './guest-read.js';

export const guestOsInfo = guestRead(
  'guestosinfo',
  'guestosinfo',
  'print what the guest agent tells of its system',
);
