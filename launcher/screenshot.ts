import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { podLayout } from '../openapi/launcher/protocol.js';
import type { Qemu } from './qemu/process.js';

/** Far more than the largest display needs. */
const largestPngBytes = 16 << 20;

type Qmp = Qemu['qmp'];

/**
 * A PNG image of the display.
 * @throws QmpError if QEMU has no display, RangeError for an image beyond all measure
 */
export async function screenshot(qmp: Qmp, moveCursor: boolean): Promise<Buffer> {
  if (moveCursor) await nudge(qmp);
  const path = `${podLayout.qemu}/screenshot-${randomUUID()}.png`;
  try {
    await qmp.execute('screendump', { filename: path, format: 'png' });
    const png = await readFile(path);
    if (png.length > largestPngBytes) throw new RangeError(`the screenshot has ${png.length} bytes`);
    return png;
  } finally {
    await rm(path, { force: true });
  }
}

/** There and back again: whatever pointer the guest has, it was moved and is where it was. */
async function nudge(qmp: Qmp): Promise<void> {
  for (const value of [1, -1]) {
    const events = [{ type: 'rel', data: { axis: 'x', value } }];
    await qmp.execute('input-send-event', { events });
  }
}
