/** `kubectl virt userlist`. */
import { guestRead } from './guest-read.js';

export const userList = guestRead('userlist', 'userlist', 'print who is logged in to a guest');
