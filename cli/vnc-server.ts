/** A local web server with a page that shows a display, and the websocket that the page speaks VNC over. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { isIPv6, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RawData, WebSocket } from 'ws';
import { CommandError } from './errors.js';
import type { Listener, ListenOptions } from './port-listener.js';
import { keepAlive } from './tunnel.js';

export interface DisplayServer extends Listener {
  readonly url: string;
}

export interface DisplayOptions extends ListenOptions {
  /** What the page is called. */
  readonly title: string;
}

/** Above so many unsent bytes, the other side is not read. */
const highWaterMark = 256 * 1024;

/** The page with noVNC, as the build makes it; beside this file once that is built itself. */
async function readScript(): Promise<Buffer> {
  const places = ['vnc-page.js', '../dist/vnc-page.js'].map((path) => join(import.meta.dirname, path));
  const place = places.find((path) => existsSync(path));
  if (place === undefined) throw new CommandError('the page is not built: npm run build makes it');
  return readFile(place);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function page(title: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<style>
html, body { height: 100%; margin: 0; background: #222; color: #ddd; font: 14px sans-serif; }
body { display: flex; flex-direction: column; }
header { padding: 4px 8px; display: flex; gap: 12px; align-items: center; }
#screen { flex: 1; min-height: 0; }
</style>
<header><b>${escapeHtml(title)}</b> <span id="state">connecting</span> <button id="keys">Ctrl+Alt+Del</button></header>
<div id="screen"></div>
<script type="module" src="vnc-page.js"></script>
</html>
`;
}

/** The address holds a secret: other users of this machine and other pages of the browser do not know it. */
export async function serveDisplay(options: DisplayOptions): Promise<DisplayServer> {
  const { address, port, title, open, failed } = options;
  const [script, { WebSocketServer: Server }] = await Promise.all([readScript(), import('ws')]);
  const root = `/${randomBytes(16).toString('hex')}/`;
  const policy = "default-src 'self'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self' ws:";
  const server = createServer(({ url, method }, response) => {
    const body = url === root ? page(title) : url === `${root}vnc-page.js` ? script : undefined;
    if (body === undefined || method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'text/javascript';
    response.writeHead(200, {
      'content-type': type,
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    response.end(body);
  });
  const sockets = new Server({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== `${root}vnc`) {
      socket.destroy();
      return;
    }
    sockets.handleUpgrade(request, socket, head, (browser) => {
      browser.pause();
      open().then(
        (display) => {
          relayMessages(browser, display);
        },
        (error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          failed(new Error(message));
          browser.resume();
          browser.close(1011, message.slice(0, 120));
        },
      );
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  // Listening on TCP.
  const bound = server.address() as AddressInfo;
  const host = isIPv6(address) ? `[${address}]` : address;
  return {
    port: bound.port,
    url: `http://${host}:${bound.port}${root}`,
    close: () => {
      for (const browser of sockets.clients) browser.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Until either is closed; the other is then told why. */
function relayMessages(browser: WebSocket, display: WebSocket): void {
  const stopPinging = keepAlive(display);
  for (const [from, to] of [
    [browser, display],
    [display, browser],
  ] as const) {
    from.on('message', (data: RawData) => {
      if (to.readyState !== to.OPEN) return;
      to.send(data as Buffer, { binary: true }, () => {
        if (from.isPaused && to.bufferedAmount < highWaterMark) from.resume();
      });
      if (to.bufferedAmount >= highWaterMark) from.pause();
    });
    from.on('error', () => {
      from.terminate();
    });
    from.once('close', (code, reason) => {
      stopPinging();
      to.resume();
      const told = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code) ? code : 1000;
      to.close(told, reason);
    });
    from.resume();
  }
}
