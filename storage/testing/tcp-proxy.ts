import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A line to a server that can be made slow or cut. */
export interface TcpProxy {
  readonly port: number;
  /** How long bytes are under way from now on, in each direction. Milliseconds. */
  delay(milliseconds: number): void;
  /** Nothing goes through any more, and nobody is told: connections stay open, new ones are accepted. */
  cut(): void;
  /** What was held back goes on its way, as after a break of the network. */
  mend(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const line: Line = { milliseconds: 0, isCut: false };
  const directions = new Set<Direction>();
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1');
    directions.add(new Direction(line, socket, upstream)).add(new Direction(line, upstream, socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A listening TCP server has one of these.
    port: (server.address() as AddressInfo).port,
    delay: (milliseconds) => {
      line.milliseconds = milliseconds;
    },
    cut: () => {
      line.isCut = true;
    },
    mend: () => {
      line.isCut = false;
      for (const direction of directions) direction.pass();
    },
    async close() {
      server.close();
      for (const direction of directions) direction.close();
      await once(server, 'close');
    },
  };
}

interface Line {
  milliseconds: number;
  isCut: boolean;
}

/** Bytes from one end to the other, and then the end of them, in order. */
class Direction {
  readonly #line: Line;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #queue: { readonly due: number; readonly chunk: Buffer | 'end' }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(line: Line, from: Socket, to: Socket) {
    this.#line = line;
    this.#from = from;
    this.#to = to;
    from.setNoDelay(true);
    from.on('data', (chunk: Buffer) => this.#push(chunk));
    // Either end may go at any time; the close that follows tells the other.
    from.on('error', () => undefined);
    from.on('close', () => this.#push('end'));
  }

  /** Hands on what is due. */
  pass(): void {
    clearTimeout(this.#timer);
    for (let next = this.#queue[0]; next !== undefined && !this.#line.isCut; next = this.#queue[0]) {
      const wait = next.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.pass(), wait);
        return;
      }
      this.#queue.shift();
      if (next.chunk === 'end') this.#to.destroy();
      else this.#to.write(next.chunk);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#from.destroy();
  }

  #push(chunk: Buffer | 'end'): void {
    this.#queue.push({ due: performance.now() + this.#line.milliseconds, chunk });
    if (this.#queue.length === 1) this.pass();
  }
}
