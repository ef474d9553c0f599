/** `kubectl virt port-forward`: local ports that lead to ports of a guest. */
import { Duplex } from 'node:stream';
import type { Command, CommandContext } from './command.js';
import { UsageError } from './errors.js';
import { parseTarget } from './machine.js';
import { listenTcp, listenUdp, type Listener } from './port-listener.js';
import { say } from './terminal.js';
import { openTunnel, relayBytes, type Protocol, type Tunnel } from './tunnel.js';

interface ForwardedPort {
  readonly protocol: Protocol;
  /** 0: any free port. */
  readonly local: number;
  readonly remote: number;
}

/** `[PROTOCOL/]LOCAL[:REMOTE]` */
export function parsePort(text: string): ForwardedPort {
  const match = /^(?:(tcp|udp)\/)?(\d+)(?::(\d+))?$/.exec(text);
  const [, protocol, local = '', remote = local] = match ?? [];
  const port = {
    protocol: protocol === 'udp' ? 'udp' : 'tcp',
    local: Number(local),
    remote: Number(remote),
  } as const;
  if (match === null || port.local > 65535 || port.remote < 1 || port.remote > 65535)
    throw new UsageError(`"${text}" is no port; write [tcp/ | udp/]LOCAL[:REMOTE], such as 8080:80`);
  return port;
}

export const portForward: Command = {
  name: 'port-forward',
  synopsis: 'vm/NAME[/NAMESPACE] [tcp/ | udp/]LOCAL[:REMOTE] …',
  summary: 'let local ports lead to ports of a guest',
  options: { address: { type: 'string' }, stdio: { type: 'boolean' } },
  optionHelp: {
    address: 'where the local ports listen (default 127.0.0.1)',
    stdio: 'standard input and output in place of a local port, for ProxyCommand',
  },
  async run(context, values, positionals) {
    const [targetText, ...portTexts] = positionals;
    if (targetText === undefined || portTexts.length === 0)
      throw new UsageError('write port-forward vm/NAME PORT …');
    const target = parseTarget(targetText);
    const ports = portTexts.map(parsePort);
    const { machine, namespace = context.namespace } = target;
    const tunnelTo = ({ protocol, remote }: ForwardedPort): Tunnel => ({
      namespace,
      machine,
      protocol,
      port: remote,
    });
    if (values['stdio'] === true) {
      const [port, ...more] = ports;
      if (port === undefined || more.length > 0) throw new UsageError('--stdio is for one port');
      await forwardTerminal(context, tunnelTo(port));
      return;
    }
    const address = typeof values['address'] === 'string' ? values['address'] : '127.0.0.1';
    await forwardPorts(context, address, ports, tunnelTo);
  },
};

async function forwardTerminal(context: CommandContext, tunnel: Tunnel): Promise<void> {
  const { input, output } = context.terminal;
  const socket = await openTunnel(context, tunnel);
  const local = Duplex.from({ readable: input, writable: output });
  const stop = (): void => {
    socket.close(1000);
  };
  context.signal.addEventListener('abort', stop, { once: true });
  await relayBytes(socket, local);
}

async function forwardPorts(
  context: CommandContext,
  address: string,
  ports: readonly ForwardedPort[],
  tunnelTo: (port: ForwardedPort) => Tunnel,
): Promise<void> {
  const { terminal, signal } = context;
  const listeners: Listener[] = [];
  try {
    for (const port of ports) {
      const listen = port.protocol === 'udp' ? listenUdp : listenTcp;
      const listener = await listen({
        address,
        port: port.local,
        open: () => openTunnel(context, tunnelTo(port)),
        failed: (error) => {
          say(terminal, `kubectl virt: port ${port.remote}: ${error.message}`);
        },
      });
      listeners.push(listener);
      say(terminal, `Forwarding ${port.protocol}/${address}:${listener.port} -> ${port.remote}`);
    }
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
      if (signal.aborted) resolve(undefined);
    });
  } finally {
    for (const listener of listeners) listener.close();
  }
}
