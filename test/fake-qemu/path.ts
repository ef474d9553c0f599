import { fileURLToPath } from 'node:url';

/** The executable to give as `--qemu`. */
export const fakeQemu = fileURLToPath(new URL('fake-qemu.mjs', import.meta.url));
