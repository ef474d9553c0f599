import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Two ends of a unix socket. */
export async function socketPair(): Promise<readonly [Socket, Socket]> {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-pair-'));
  const path = join(directory, 'socket');
  try {
    return await new Promise((resolve, reject) => {
      const server = createServer((theirs) => {
        server.close();
        resolve([ours, theirs]);
      });
      server.once('error', reject);
      let ours: Socket;
      server.listen(path, () => {
        ours = connect(path);
      });
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
