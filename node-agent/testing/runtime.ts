/** A pod runtime over a fake API and fake launchers, with real processes, sockets and files. */
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../controllers/runtime/clock.js';
import { Informers } from '../../controllers/runtime/informers.js';
import { pods } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import type { DomainStatus } from '../../openapi/launcher/protocol.js';
import { ImagePuller } from '../images/puller.js';
import { ImageStore } from '../images/store.js';
import { LauncherClient } from '../launcher-client.js';
import { PodDirectories, type PodDirectory } from '../pod-directory.js';
import { startedAs, type LauncherUser } from '../pod-runtime/launcher-user.js';
import { PodRuntime } from '../pod-runtime/pod-runtime.js';
import { FakeRecorder } from './events.js';
import { nodeName } from './objects.js';

export const fakeLauncher = [process.execPath, new URL('fake-launcher.mjs', import.meta.url).pathname];

export interface Agent {
  readonly runtime: PodRuntime;
  /** Stops the agent as a restart does: launchers go on. */
  stop(): Promise<void>;
}

export interface TestNode {
  readonly client: FakeClient;
  readonly recorder: FakeRecorder;
  readonly logger: SilentLogger;
  readonly directory: string;
  readonly directories: PodDirectories;
  start(options?: { command?: readonly string[]; fake?: object; user?: LauncherUser }): Promise<Agent>;
}

export async function testNode(t: TestContext): Promise<TestNode> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'nativirt-node-')));
  const client = new FakeClient();
  const recorder = new FakeRecorder();
  const logger = new SilentLogger();
  const directories = new PodDirectories(join(directory, 'pods'));
  const agents = new Set<Agent>();
  // The clock's timers and the fake API keep no process alive; a real one has servers.
  const alive = setInterval(() => undefined, 60_000);
  t.after(async () => {
    clearInterval(alive);
    for (const agent of agents) await agent.stop();
    for (const uid of await directories.list()) await directories.of(uid).killProcesses();
    await rm(directory, { recursive: true, force: true });
  });
  const start: TestNode['start'] = async ({ command = fakeLauncher, fake = {}, user } = {}) => {
    const informers = new Informers({ client, logger });
    const store = await ImageStore.open(join(directory, 'images'));
    const environment = { FAKE_LAUNCHER: JSON.stringify(fake), PATH: process.env['PATH'] ?? '' };
    const launcher = { command, environment };
    const runtime = new PodRuntime({
      client,
      clock: systemClock,
      logger,
      recorder,
      random: Math.random,
      puller: new ImagePuller({ store, layoutDirectories: [directory] }),
      launcher: user === undefined ? launcher : startedAs(user, launcher),
      user,
      address: '192.0.2.1',
      informer: informers.get(pods, { fieldSelector: `spec.nodeName=${nodeName}` }),
      directories,
    });
    const controller = new AbortController();
    const running = Promise.all([informers.run(controller.signal), runtime.run(controller.signal)]);
    const agent: Agent = {
      runtime,
      async stop() {
        agents.delete(agent);
        controller.abort();
        await running;
      },
    };
    agents.add(agent);
    return agent;
  };
  return { client, recorder, logger, directory, directories, start };
}

/** Calls the fake launcher's own method: changes its status, and ends it where the state is final. */
export async function tellLauncher(directory: PodDirectory, changes: Partial<DomainStatus>): Promise<void> {
  const launcher = await LauncherClient.connect(directory.controlSocket, { clock: systemClock });
  try {
    // A method of the fake launcher alone, which the client's types do not know.
    await (launcher as unknown as { call(method: string, params: unknown): Promise<unknown> }).call(
      'fake',
      changes,
    );
  } finally {
    launcher.close();
  }
}

export async function pidFrom(directory: PodDirectory, file: string): Promise<number> {
  const text = await readFile(join(directory.path, file), 'utf8');
  return file.endsWith('.json') ? (JSON.parse(text) as { pid: number }).pid : Number(text);
}
