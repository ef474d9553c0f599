/** `kubectl virt logs`: what a guest has said on its serial console. */
import { once } from 'node:events';
import type { Command } from './command.js';
import { machineArgument, machineSynopsis, runningInstance } from './machine.js';
import { bytesOf } from './relay.js';
import { openStream } from './websocket.js';

export const logs: Command = {
  name: 'logs',
  synopsis: machineSynopsis,
  summary: 'print what a guest has said on its serial console',
  options: { follow: { type: 'boolean', short: 'f' } },
  optionHelp: { follow: 'go on with what it says from now on' },
  async run(context, values, positionals) {
    const { connection, terminal, signal } = context;
    const { metadata } = await runningInstance(context, machineArgument(positionals));
    const socket = await openStream(
      connection,
      {
        namespace: metadata.namespace ?? '',
        resource: 'virtualmachineinstances',
        name: metadata.name,
        stream: 'console',
        query: new URLSearchParams({ mode: values['follow'] === true ? 'read' : 'history' }),
      },
      signal,
    );
    const stop = (): void => {
      socket.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.on('message', (data) => {
      if (terminal.output.write(bytesOf(data))) return;
      socket.pause();
      terminal.output.once('drain', () => {
        socket.resume();
      });
    });
    socket.resume();
    await once(socket, 'close');
    signal.removeEventListener('abort', stop);
    signal.throwIfAborted();
  },
};
