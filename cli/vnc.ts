/** `kubectl virt vnc`: the display of a machine in a browser, or a local port for a VNC viewer. */
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import type { Command, CommandContext } from './command.js';
import { UsageError } from './errors.js';
import { machineArgument, machineSynopsis, runningInstance } from './machine.js';
import { listenTcp, type Listener } from './port-listener.js';
import { say } from './terminal.js';
import { serveDisplay } from './vnc-server.js';
import { openStream } from './websocket.js';

export const vnc: Command = {
  name: 'vnc',
  synopsis: machineSynopsis,
  summary: 'show the display of a machine in a browser',
  options: {
    address: { type: 'string' },
    port: { type: 'string' },
    'proxy-only': { type: 'boolean' },
    'preserve-session': { type: 'boolean' },
  },
  optionHelp: {
    address: 'where to listen (default 127.0.0.1)',
    port: 'local port (default: any free one)',
    'proxy-only': 'a plain VNC port for a viewer, instead of a page for a browser',
    'preserve-session': 'fail if somebody has the display, rather than take it over',
  },
  async run(context, values, positionals) {
    const machine = machineArgument(positionals);
    const { address } = values;
    const portText = typeof values['port'] === 'string' ? values['port'] : '0';
    const port = Number(portText);
    if (!/^\d+$/.test(portText) || port > 65535)
      throw new UsageError(`--port ${JSON.stringify(portText)} is no port`);
    const { metadata } = await runningInstance(context, machine);
    const where = { address: typeof address === 'string' ? address : '127.0.0.1', port };
    const open = (): Promise<WebSocket> =>
      openDisplay(context, metadata.namespace ?? '', metadata.name, values['preserve-session'] === true);
    const failed = (error: Error): void => {
      say(context.terminal, `kubectl virt: ${error.message}`);
    };
    const listen = async (): Promise<Listener> => {
      if (values['proxy-only'] === true) {
        const proxy = await listenTcp({ ...where, open, failed });
        context.terminal.output.write(`${JSON.stringify({ port: proxy.port })}\n`);
        return proxy;
      }
      const display = await serveDisplay({ ...where, title: metadata.name, open, failed });
      say(context.terminal, `The display of ${metadata.name} is at ${display.url}`);
      return display;
    };
    const listener = await listen();
    if (!context.signal.aborted) await once(context.signal, 'abort');
    listener.close();
  },
};

function openDisplay(
  { connection, signal }: CommandContext,
  namespace: string,
  name: string,
  preserve: boolean,
): Promise<WebSocket> {
  const query = new URLSearchParams(preserve ? { preserveSession: 'true' } : {});
  const request = { namespace, resource: 'virtualmachineinstances', name, stream: 'vnc', query } as const;
  return openStream(connection, request, signal);
}
