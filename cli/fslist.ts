/** `kubectl virt fslist`. */
import { guestRead } from './guest-read.js';

export const fsList = guestRead('fslist', 'filesystemlist', 'print the file systems of a guest');
