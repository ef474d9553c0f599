/** A standalone server in a process of its own, and a client that costs little, for benchmarks. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'yaml';

export const root = path.resolve(import.meta.dirname, '../..');

export interface BenchServer {
  readonly pid: number;
  readonly url: URL;
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  /** How long from its start until it was ready. Milliseconds. */
  readonly startMilliseconds: number;
  readonly dataDirectory: string;
  stop(): Promise<void>;
}

export async function startServer(flags: readonly string[], dataDirectory?: string): Promise<BenchServer> {
  const directory = dataDirectory ?? mkdtempSync(path.join(tmpdir(), 'nativirt-bench-'));
  const begin = performance.now();
  const child = spawn(
    path.join(root, 'bin/nativirt'),
    ['standalone', '--data-dir', directory, '--secure-port', '0', '--log-level', 'warn', ...flags],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const server = await ready(child, /ready at (\S+);/);
  const startMilliseconds = performance.now() - begin;
  const kubeconfig = parse(readFileSync(path.join(directory, 'admin.kubeconfig'), 'utf8')) as {
    clusters: [{ cluster: { 'certificate-authority-data': string } }];
    users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
  };
  const decode = (text: string): string => Buffer.from(text, 'base64').toString();
  const user = kubeconfig.users[0].user;
  return {
    pid: child.pid ?? 0,
    url: new URL(server),
    tls: {
      ca: decode(kubeconfig.clusters[0].cluster['certificate-authority-data']),
      cert: decode(user['client-certificate-data']),
      key: decode(user['client-key-data']),
    },
    startMilliseconds,
    dataDirectory: directory,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      if (dataDirectory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What the server names in its first line that matches. */
export async function ready(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const found = pattern.exec(line);
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error('the server ended before it was ready');
}

export interface BenchResponse {
  readonly status: number;
  readonly body: Buffer;
}

/** One connection, one request at a time. */
export class BenchClient {
  private readonly agent: https.Agent;

  constructor(private readonly server: BenchServer) {
    this.agent = new https.Agent({ ...server.tls, keepAlive: true, maxSockets: 1 });
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<BenchResponse> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = https.request(
        new URL(path, this.server.url),
        {
          method,
          agent: this.agent,
          headers: {
            accept: 'application/json',
            ...(payload === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }),
          );
          response.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(payload);
    });
  }

  /** Counts the lines of a watch until `stop`. A watch that ends by itself is an uncaught error. */
  watch(path: string, onLine: () => void): { readonly open: Promise<void>; stop(): void } {
    let stopped = false;
    const request = https.request(new URL(path, this.server.url), { agent: this.agent });
    const open = new Promise<void>((resolve, reject) => {
      request.on('response', (response) => {
        resolve();
        response.on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) onLine();
        });
        response.on('error', () => undefined);
        response.on('close', () => {
          if (!stopped) throw new Error(`the watch of ${path} ended`);
        });
      });
      request.on('error', reject);
    });
    request.end();
    const stop = (): void => {
      stopped = true;
      request.destroy();
    };
    return { open, stop };
  }

  close(): void {
    this.agent.destroy();
  }
}
