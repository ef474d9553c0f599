import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { podLayout } from '../openapi/launcher/protocol.js';
import { LineSplitter } from './lines.js';
import { isObject, type JsonObject } from './qmp/messages.js';

export interface ProbeOptions {
  readonly podDir: string;
  readonly timeoutSeconds: number;
  readonly command: readonly string[];
}

/** The agent runs a command without waiting for it: asked again and again how far it is. Milliseconds. */
const firstPause = 20;
const longestPause = 500;

/**
 * Asks the launcher of a pod directory for its guest's agent, as a kubelet's exec probe does.
 * @returns 0 if the agent answers and the command ends with status 0 in time; else 1, with the reason on `stderr`
 */
export async function probe(
  { podDir, timeoutSeconds, command }: ProbeOptions,
  stderr: { write(text: string): unknown },
): Promise<number> {
  const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const agent = await GuestAgentCalls.connect(join(podDir, podLayout.controlSocket), deadline);
    try {
      const failure = await check(agent, command, deadline);
      if (failure === undefined) return 0;
      stderr.write(`${failure}\n`);
      return 1;
    } finally {
      agent.close();
    }
  } catch (error) {
    const why = deadline.aborted
      ? `no answer in ${timeoutSeconds} s`
      : error instanceof Error
        ? error.message
        : String(error);
    stderr.write(`probe: ${why}\n`);
    return 1;
  }
}

async function check(
  agent: GuestAgentCalls,
  [path, ...rest]: readonly string[],
  deadline: AbortSignal,
): Promise<string | undefined> {
  if (path === undefined) {
    await agent.call('guest-ping');
    return undefined;
  }
  const started = await agent.call('guest-exec', { path, arg: rest, 'capture-output': true });
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    const status = await agent.call('guest-exec-status', { pid: started['pid'] });
    if (status['exited'] === true) return outcome(status);
    await delay(pause, undefined, { signal: deadline });
  }
}

function outcome(status: JsonObject): string | undefined {
  if (status['exitcode'] === 0) return undefined;
  const output = [status['out-data'], status['err-data']].map((data) =>
    typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : '',
  );
  const { exitcode: code, signal } = status;
  const how = typeof code === 'number' ? `status ${code}` : `signal ${JSON.stringify(signal)}`;
  return `the command ended with ${how}\n${output.join('')}`.trim();
}

const maxLineBytes = 32 * 1024 * 1024;

/** Commands of the guest agent through a launcher's control socket, one after another. */
class GuestAgentCalls {
  private readonly lines = new LineSplitter(maxLineBytes);
  private id = 0;

  private constructor(
    private readonly socket: Socket,
    private readonly deadline: AbortSignal,
  ) {}

  static async connect(path: string, deadline: AbortSignal): Promise<GuestAgentCalls> {
    const socket = connect(path);
    await once(socket, 'connect', { signal: deadline });
    return new GuestAgentCalls(socket, deadline);
  }

  close(): void {
    this.socket.destroy();
  }

  async call(execute: string, parameters?: JsonObject): Promise<JsonObject> {
    const params = { execute, ...(parameters === undefined ? {} : { arguments: parameters }) };
    const request = { jsonrpc: '2.0', id: ++this.id, method: 'guestAgent', params };
    this.socket.write(`${JSON.stringify(request)}\n`);
    for (;;) {
      const [chunk] = (await once(this.socket, 'data', { signal: this.deadline })) as [Buffer];
      for (const line of this.lines.push(chunk)) {
        const answer: unknown = JSON.parse(line);
        if (isObject(answer) && answer['id'] === this.id) return resultOf(answer);
      }
    }
  }
}

function resultOf({ error, result }: JsonObject): JsonObject {
  if (isObject(error)) throw new Error(String(error['message']));
  return isObject(result) ? result : {};
}
