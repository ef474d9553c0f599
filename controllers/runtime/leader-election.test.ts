import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Client } from './client.js';
import { sleep, type Clock } from './clock.js';
import { ConnectionError } from './errors.js';
import { leases } from './kinds.js';
import { LeadershipLost, runWithLeadership } from './leader-election.js';
import { FakeClient } from './testing/fake-client.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { overriding } from './testing/overriding.js';
import { SilentLogger } from './testing/silent-logger.js';

const lease = { namespace: 'kube-system', name: 'controllers' };
const logger = new SilentLogger();

interface Candidate {
  readonly identity: string;
  leading: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<'lost' | 'ended'>;
  /** What its work writes with, once it has led. */
  readonly client: Client | undefined;
}

/** Its wall clock may differ from everybody else's. */
function skewed(clock: Clock, ms: number): Clock {
  return {
    ...clock,
    now: () => clock.now() + ms,
    monotonic: () => clock.monotonic(),
    timer: (...call) => clock.timer(...call),
  };
}

function candidate(
  identity: string,
  client: FakeClient | ReturnType<typeof overriding>,
  clock: Clock,
  onChange: () => void = () => undefined,
): Candidate {
  const stop = new AbortController();
  const self: { leading: boolean; client: Client | undefined } = { leading: false, client: undefined };
  const ended = runWithLeadership(
    { client, clock, logger, lease, identity, random: () => 0 },
    async (signal, leader) => {
      self.leading = true;
      self.client = leader;
      onChange();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      self.leading = false;
    },
    stop.signal,
  );
  return {
    identity,
    stop,
    ended,
    get leading() {
      return self.leading;
    },
    set leading(value) {
      self.leading = value;
    },
    get client() {
      return self.client;
    },
  };
}

test('the first to come leads, and the lease says so in the shape of client-go', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const a = candidate('a', client, clock);
  await settle();
  const b = candidate('b', client, clock);
  await clock.advance(60_000);
  assert.deepEqual([a.leading, b.leading], [true, false]);
  const { spec } = client.all(leases)[0] ?? {};
  assert.equal(spec?.holderIdentity, 'a');
  assert.equal(spec.leaseDurationSeconds, 15);
  assert.equal(spec.leaseTransitions, 0);
  assert.match(spec.renewTime ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  assert.match(spec.acquireTime ?? '', /^2026-01-02T03:04:05/);
  a.stop.abort();
  b.stop.abort();
  await Promise.all([a.ended, b.ended]);
});

test('a leader that ends gives the lease up, and the next need not wait for it to lapse', async () => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const a = candidate('a', client, clock);
  await settle();
  const b = candidate('b', client, clock);
  await settle();
  a.stop.abort();
  assert.equal(await a.ended, 'ended');
  await clock.advance(2500);
  assert.equal(b.leading, true);
  assert.equal(client.all(leases)[0]?.spec?.leaseTransitions, 1);
  b.stop.abort();
  await b.ended;
});

test('a leader that can not renew stops in time, before a rival starts', async () => {
  const clock = new FakeClock();
  const server = new FakeClient(clock);
  let cut = false;
  const client = overriding(server, {
    update: (...call) => (cut ? Promise.reject(new ConnectionError('cut off')) : server.update(...call)),
  });
  const a = candidate('a', client, clock);
  await settle();
  const b = candidate('b', server, clock);
  await clock.advance(4000);
  cut = true;
  await clock.advance(10_000);
  assert.equal(a.leading, false);
  assert.equal(await a.ended, 'lost');
  assert.equal(b.leading, false);
  await clock.advance(10_000);
  assert.equal(b.leading, true);
  b.stop.abort();
  await b.ended;
});

test('a request that hangs does not keep a leader past its time', async () => {
  const clock = new FakeClock();
  const server = new FakeClient(clock);
  let hang = false;
  const client = overriding(server, {
    get: async (kind, key, signal) => {
      if (hang && signal !== undefined) await sleep(clock, 3_600_000, signal);
      return server.get(kind, key, signal);
    },
  });
  const a = candidate('a', client, clock);
  await settle();
  hang = true;
  await clock.advance(10_001);
  assert.equal(a.leading, false);
  assert.equal(await a.ended, 'lost');
});

test('the work of a leader learns why it must stop', async () => {
  const clock = new FakeClock();
  const server = new FakeClient(clock);
  let reason: unknown;
  const running = runWithLeadership(
    { client: server, clock, logger, lease, identity: 'a' },
    async (signal) => {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      reason = signal.reason;
    },
    new AbortController().signal,
  );
  await settle();
  server.put(leases, lease, (each) => ({ ...each, spec: { ...each.spec, holderIdentity: 'thief' } }));
  await clock.advance(2500);
  assert.equal(await running, 'lost');
  assert.ok(reason instanceof LeadershipLost);
});

test('durations that could make two leaders are refused', async () => {
  const client = new FakeClient();
  const signal = new AbortController().signal;
  const options = { client, logger, lease, identity: 'a', leaseDuration: 10_000, renewDeadline: 10_000 };
  await assert.rejects(
    runWithLeadership(options, () => Promise.resolve(), signal),
    RangeError,
  );
});

test('there are never two leaders, whatever clocks, networks and processes do', async () => {
  const fault = fc.record({
    who: fc.nat(2),
    what: fc.constantFrom(
      'cut' as const,
      'slow' as const,
      'heal' as const,
      'restart' as const,
      'stop' as const,
      'pause' as const,
      'resume' as const,
    ),
    after: fc.integer({ min: 0, max: 20_000 }),
    delay: fc.integer({ min: 0, max: 25_000 }),
  });
  const skews = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -3_600_000, max: 3_600_000 })));
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 12 }), skews, async (faults, skew) => {
      const world = new World(skew);
      await world.run(faults);
      assert.equal(world.mostLeaders <= 1, true, 'two lead at once');
      assert.deepEqual(world.trespasses, [], 'who leads no more writes no more');
      assert.equal(await world.leaderInTheEnd(), 1, 'somebody leads once all is well again');
      await world.end();
    }),
    { numRuns: 60 },
  );
});

type Fault = {
  readonly who: number;
  readonly what: 'cut' | 'slow' | 'heal' | 'restart' | 'stop' | 'pause' | 'resume';
  readonly after: number;
  readonly delay: number;
};

/** Of a process that is stopped now and then (SIGSTOP, a hypervisor): its timers wait, the time does not. */
class PausableClock implements Clock {
  paused = false;
  readonly #late = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now();
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  timer(ms: number, callback: () => void): () => void {
    let fire = (): void => {
      if (this.paused) this.#late.add(fire);
      else callback();
    };
    const cancel = this.clock.timer(ms, () => fire());
    return () => {
      cancel();
      this.#late.delete(fire);
      fire = () => undefined;
    };
  }

  resume(): void {
    this.paused = false;
    const late = [...this.#late];
    this.#late.clear();
    for (const fire of late) fire();
  }
}

const work = { namespace: 'kube-system', name: 'work' };

class World {
  readonly clock = new FakeClock();
  readonly server = new FakeClient(this.clock);
  readonly network = [0, 1, 2].map(() => ({ cut: false, delay: 0 }));
  readonly candidates: (Candidate | undefined)[] = [];
  readonly everyone: Candidate[] = [];
  readonly clocks: (PausableClock | undefined)[] = [];
  mostLeaders = 0;
  /** Writes of one while another led. */
  readonly trespasses: string[] = [];
  #lives = 0;

  constructor(private readonly skew: readonly number[]) {}

  async run(faults: readonly Fault[]): Promise<void> {
    const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: work };
    await this.server.create(leases, object);
    for (const who of [0, 1, 2]) this.#start(who);
    for (const fault of faults) {
      await this.clock.advance(fault.after);
      await this.#inflict(fault);
      await this.#work();
    }
  }

  async leaderInTheEnd(): Promise<number> {
    for (const who of [0, 1, 2]) {
      this.network[who] = { cut: false, delay: 0 };
      await this.#resume(who);
      if (this.candidates[who]?.leading !== true) this.#restart(who);
    }
    await this.clock.advance(60_000);
    return this.everyone.filter(({ leading }) => leading).length;
  }

  /** All that led and are not stopped try to write, as answers and events make them. */
  async #work(): Promise<void> {
    for (const [who, each] of this.candidates.entries())
      if (this.clocks[who]?.paused !== true) await this.#write(each);
  }

  async #write(candidate: Candidate | undefined): Promise<void> {
    const leaders = this.everyone.filter(
      (each) => each.leading && each !== candidate && !this.#isPaused(each),
    );
    try {
      await candidate?.client?.patch(leases, work, { type: 'merge', body: { spec: {} } });
    } catch (error) {
      if (error instanceof LeadershipLost) return;
      throw error;
    }
    if (candidate?.client !== undefined)
      for (const { identity } of leaders) this.trespasses.push(`${candidate.identity} while ${identity} led`);
  }

  #isPaused(candidate: Candidate): boolean {
    const who = this.candidates.indexOf(candidate);
    return this.clocks[who]?.paused === true;
  }

  /** Sockets are read before timers run. */
  async #resume(who: number): Promise<void> {
    if (this.clocks[who]?.paused !== true) return;
    await this.#write(this.candidates[who]);
    this.clocks[who].resume();
    await settle();
  }

  async end(): Promise<void> {
    for (const { stop } of this.everyone) stop.abort();
    for (const who of [0, 1, 2]) this.network[who] = { cut: true, delay: 0 };
    await this.clock.advance(60_000);
  }

  async #inflict({ who, what, delay }: Fault): Promise<void> {
    switch (what) {
      case 'cut':
        this.network[who] = { cut: true, delay: 0 };
        return;
      case 'slow':
        this.network[who] = { cut: false, delay };
        return;
      case 'heal':
        this.network[who] = { cut: false, delay: 0 };
        return;
      case 'restart':
        this.#restart(who);
        return settle();
      case 'stop':
        await this.#resume(who);
        this.candidates[who]?.stop.abort();
        return settle();
      case 'pause': {
        const clock = this.clocks[who];
        if (clock !== undefined) clock.paused = true;
        return;
      }
      case 'resume':
        return this.#resume(who);
    }
  }

  #restart(who: number): void {
    this.clocks[who]?.resume();
    this.candidates[who]?.stop.abort();
    this.#start(who);
  }

  #start(who: number): void {
    this.#lives += 1;
    const through = async <R>(call: () => Promise<R>): Promise<R> => {
      const { cut, delay } = this.network[who] ?? { cut: true, delay: 0 };
      if (cut) throw new ConnectionError('cut off');
      const signal = new AbortController().signal;
      // A request and its answer take their time each; a process that is gone does not call its request back.
      await sleep(this.clock, delay / 2, signal);
      const result = await call();
      await sleep(this.clock, delay / 2, signal);
      return result;
    };
    const client = overriding(this.server, {
      get: (kind, key) => through(() => this.server.get(kind, key)),
      create: (kind, object) => through(() => this.server.create(kind, object)),
      update: (kind, object) => through(() => this.server.update(kind, object)),
    });
    const clock = new PausableClock(skewed(this.clock, this.skew[who] ?? 0));
    this.clocks[who] = clock;
    const started = candidate(`c${who}-${this.#lives}`, client, clock, () => {
      const leading = this.everyone.filter((each) => each.leading && !this.#isPaused(each)).length;
      this.mostLeaders = Math.max(this.mostLeaders, leading);
    });
    this.candidates[who] = started;
    this.everyone.push(started);
  }
}
