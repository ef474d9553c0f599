import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, get, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { pino } from 'pino';
import { isValidAt, parseBundle } from '../../apiserver/pki/bundle.js';
import { defaultRotation } from '../../apiserver/pki/rotation.js';
import { ApiError } from '../../apiserver/errors/api-error.js';
import { nodeAgentDialer } from '../../apiserver/subresources/node-agent-dialer.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { namespaces, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { PodDirectories } from '../../node-agent/pod-directory.js';
import { StreamServer } from '../../node-agent/streams/stream-server.js';
import { createMemoryBackend } from '../../storage/memory/backend.js';
import { startApi } from '../server/api.js';
import { standaloneSurroundings } from '../server/standalone-surroundings.js';
import { Identities, isComponent, nodeAgentOf } from './identities.js';

const hour = 3_600_000;
const rotations = Number(process.env.ROTATIONS ?? '200');
const host = '127.0.0.1';
const node = 'node-1';

async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-identities-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

function open(dataDirectory: string, clock: FakeClock): Promise<Identities> {
  const started = Date.now();
  return Identities.open({
    dataDirectory,
    bindAddress: host,
    nodes: [node],
    logger: new SilentLogger(),
    clock,
    // TLS goes by the true time, at which all of them are valid; when one is renewed and forgotten, the clock says.
    policy: () => ({ ...defaultRotation, propagation: hour, backdate: clock.now() - started + hour }),
  });
}

async function startServer(t: TestContext, identities: Identities): Promise<number> {
  const logger = pino({ level: 'silent' });
  const backend = createMemoryBackend();
  const { serviceAccountKey } = identities;
  const api = await startApi({
    backend,
    logger,
    host,
    port: 0,
    serving: () => identities.credentials('apiserver'),
    surroundings: await standaloneSurroundings({
      clientCa: () => identities.ca,
      tokenAuthFile: undefined,
      serviceAccountKey,
      logger,
    }),
    isComponent,
    nodeAgentOf,
    nodeAgentCredentials: () => identities.credentials('apiserver-client'),
  });
  identities.onChange(() => api.certificatesChanged());
  t.after(async () => {
    await api.stop();
    await backend.close();
  });
  return api.port;
}

/** A node agent that has no VMIs. */
async function startAgent(t: TestContext, identities: Identities): Promise<number> {
  const logger = new SilentLogger();
  const client = new FakeClient();
  const streams = new StreamServer({
    credentials: () => identities.credentials(`node-server:${node}`),
    host,
    port: 0,
    clock: new FakeClock(Date.now()),
    logger,
    nodeName: node,
    informer: new SharedInformer({ client, kind: virtualMachineInstances, logger }),
    directories: new PodDirectories(tmpdir()),
  });
  identities.onChange(() => streams.reload());
  t.after(() => streams.close());
  return streams.listen();
}

/** Sends one request after the other until it is told to stop. */
class Load {
  sent = 0;
  readonly failures: string[] = [];
  #waiting: (() => void)[] = [];
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(
    private readonly name: string,
    private readonly request: () => Promise<unknown>,
  ) {
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.request();
      } catch (error) {
        this.failures.push(`${this.name}, request ${this.sent}: ${String(error)}`);
      }
      this.sent += 1;
      for (const resolve of this.#waiting.splice(0)) resolve();
    }
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}

function healthOver(options: RequestOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host, path: '/livez', ...options }, (response) => {
      response.resume();
      response.once('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`answered ${response.statusCode ?? 0}`));
      });
    }).on('error', reject);
  });
}

test(`${rotations} rotations under load: no request fails`, async (t) => {
  const clock = new FakeClock(Date.now());
  const directory = await scratch(t);
  const identities = await open(directory, clock);
  const port = await startServer(t, identities);
  const agentPort = await startAgent(t, identities);
  /** What somebody knows who hears of each change only when the next one is made. */
  let lateBundle = identities.ca;
  const client = createHttpClient({
    server: `https://${host}:${port}`,
    credentials: () => Promise.resolve(identities.credentials('admin')),
  });
  t.after(() => client.close());
  const kept = new Agent({ keepAlive: true, maxSockets: 1, ca: identities.ca });
  t.after(() => kept.destroy());
  const dialer = nodeAgentDialer({
    addressOf: () => Promise.resolve(`${host}:${agentPort}`),
    credentials: () => identities.credentials('apiserver-client'),
  });
  const loads = [
    new Load('client', () => client.list(namespaces)),
    // Opened before the first rotation, and never again.
    new Load('kept connection', () => healthOver({ port, agent: kept })),
    new Load('late bundle', () => healthOver({ port, agent: false, ca: lateBundle })),
    new Load('node agent', async () => {
      const vmi = { node, namespace: 'default', name: 'none', uid: 'x', query: {} };
      const call = dialer.call(
        { ...vmi, method: 'GET', subject: 'guestosinfo' },
        new AbortController().signal,
      );
      await assert.rejects(call, (error) => error instanceof ApiError && error.reason === 'NotFound');
    }),
  ];
  const authorities = new Set<string>();
  for (let count = 0; count < rotations; count++) {
    lateBundle = identities.ca;
    await clock.advance(identities.nextAt - clock.now());
    await identities.rotate();
    authorities.add(parseBundle(identities.ca)[0]?.fingerprint256 ?? '');
    // One that was on its way, and one that begins with what is there now.
    for (let request = 0; request < 2; request++) await Promise.all(loads.map((load) => load.next()));
  }
  await Promise.all(loads.map((load) => load.stop()));
  assert.deepEqual(
    loads.flatMap(({ failures }) => failures),
    [],
  );
  assert.ok(authorities.size >= rotations / 20, `${authorities.size} authorities`);
  assert.ok(parseBundle(identities.ca).length <= 2);
  const sent = loads.map((load) => load.sent);
  t.diagnostic(`${sent.join(', ')} requests, ${authorities.size} authorities`);
});

test('an authority is kept over restarts, and replaced when it has expired while nobody was there', async (t) => {
  const directory = await scratch(t);
  const clock = new FakeClock(Date.now());
  const ca = await open(directory, clock).then((identities) => identities.ca);
  await clock.advance(hour);
  assert.equal((await open(directory, clock)).ca, ca);
  await clock.advance(10 * 24 * hour);
  const late = await open(directory, clock);
  assert.notEqual(late.ca, ca);
  assert.equal(parseBundle(late.ca).length, 1, 'what has expired is dropped');
  assert.equal(await readFile(path.join(directory, 'pki', 'ca.crt'), 'utf8'), late.ca);
  const admin = new X509Certificate(late.credentials('admin').cert);
  assert.ok(isValidAt(admin, clock.now() + 5 * 24 * hour));
});

test('rotates by itself, each thing once', async (t) => {
  const clock = new FakeClock(Date.now());
  const identities = await open(await scratch(t), clock);
  const changed = new Promise<void>((resolve) => identities.onChange(resolve));
  const stop = new AbortController();
  const before = identities.credentials('controllers');
  assert.equal(identities.credentials('controllers'), before);
  const running = identities.run(stop.signal);
  await clock.advance(19.2 * hour);
  await changed;
  assert.notEqual(identities.credentials('controllers').cert, before.cert);
  assert.equal(identities.credentials('controllers').ca, before.ca);
  stop.abort();
  await running;
});
