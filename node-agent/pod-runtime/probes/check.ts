/** One check of a probe, as a kubelet makes it. */
import { request as httpRequest } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Container, HTTPGetAction, Probe } from '../../../openapi/generated/types/core_v1.js';

/** What is probed. Everything rejects when the signal aborts. */
export interface ProbeTarget {
  /** A connection to a port of the guest, or of another host where the probe names one. */
  connect(port: number, host: string | undefined, signal: AbortSignal): Promise<Duplex>;
  /** Runs a command of the container. Rejects with what it said unless it ends with status 0. */
  execute(command: readonly string[], signal: AbortSignal): Promise<void>;
}

/** What makes probes recognisable in a server's log; the kubelet's begin so too. */
const userAgent = 'kube-probe/nativirt';

/** Rejects with the reason if the check fails, or has no answer when the signal aborts. */
export async function check(
  { exec, httpGet, tcpSocket }: Probe,
  { ports = [] }: Container,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<void> {
  if (exec !== undefined) {
    await target.execute(exec.command ?? [], signal);
  } else if (tcpSocket !== undefined) {
    const { port, host } = tcpSocket;
    (await target.connect(portOf(port, ports), host, signal)).destroy();
  } else if (httpGet !== undefined) {
    await getOverHttp(httpGet, portOf(httpGet.port, ports), target, signal);
  } else {
    throw new Error('this node makes probes by exec, httpGet and tcpSocket only');
  }
}

function portOf(port: number | string, ports: NonNullable<Container['ports']>): number {
  const number = Number(port);
  if (Number.isInteger(number)) return number;
  const named = ports.find(({ name }) => name === port);
  if (named === undefined) throw new Error(`the container has no port "${port}"`);
  return named.containerPort;
}

/** A status from 200 to 399 is success. Certificates are not verified. */
async function getOverHttp(
  { host, path = '/', scheme = 'HTTP', httpHeaders = [] }: HTTPGetAction,
  port: number,
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<void> {
  const connection = await target.connect(port, host, signal);
  const socket =
    scheme === 'HTTPS' ? connectTls({ socket: connection, rejectUnauthorized: false }) : connection;
  const authority = host ?? 'localhost';
  const headers: Record<string, string | string[]> = {
    host: `${isIPv6(authority) ? `[${authority}]` : authority}:${port}`,
    'user-agent': userAgent,
    accept: '*/*',
    connection: 'close',
  };
  const given = new Set(httpHeaders.map((header) => header.name.toLowerCase()));
  for (const name of given)
    headers[name] = httpHeaders.flatMap((each) => (each.name.toLowerCase() === name ? [each.value] : []));
  try {
    const status = await new Promise<number>((resolve, reject) => {
      connection.on('error', reject);
      const options = {
        createConnection: () => socket,
        method: 'GET',
        path: absolute(path),
        headers,
        signal,
      };
      const request = httpRequest(options, ({ statusCode = 0 }) => resolve(statusCode));
      request.on('error', reject);
      request.end();
    });
    if (status < 200 || status >= 400) throw new Error(`HTTP probe failed with statuscode: ${status}`);
  } finally {
    socket.destroy();
    connection.destroy();
  }
}

const absolute = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
