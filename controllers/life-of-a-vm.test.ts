/**
 * Any order of spec changes, requests, pod events, agent reports, refusals, slow informers and crashes ends as the spec says;
 * on the way, phases and times only move forward, and no VM ever has two launchers.
 *
 * `LIVES` sets how many lives are tried; 80 if absent.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { VirtualMachine, VirtualMachineInstanceSpec } from '../openapi/generated/types/kubevirt_v1.js';
import { unpausedGate } from '../openapi/launcher/pod.js';
import { finalizers, runStrategies } from './constants.js';
import {
  controllerRevisions,
  persistentVolumeClaims,
  pods,
  virtualMachineInstances,
  virtualMachines,
} from './runtime/kinds.js';
import { isConditionTrue } from './runtime/conditions.js';
import { settle } from './runtime/testing/fake-clock.js';
import { Harness } from './testing/harness.js';
import { History } from './testing/history.js';
import { SimulatedNode } from './testing/simulated-node.js';
import { SimulatedUser } from './testing/simulated-user.js';
import { UnreliableWay } from './testing/unreliable-client.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { isFinal } from './virtual-machine/start-failure.js';
import { runStrategyOf } from './virtual-machine/run-strategy.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';

const lives = Number(process.env['LIVES'] ?? 80);

const step = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('bind', 'startPods', 'startGuests', 'finishPods' as const) },
  fc.constantFrom(
    'succeed',
    'fail',
    'podSucceeds',
    'podFails',
    'evict',
    'vanish',
    'deleteInstance',
    'deleteVm',
    'changeTemplate',
    'changeSelector',
    'askForVolume',
    'pause',
    'release',
    'running',
    'notRunning',
  ),
  fc.record({ strategy: fc.constantFrom(...runStrategies.filter((each) => each !== 'WaitAsReceiver')) }),
  fc.record({ request: fc.constantFrom('Start', 'Stop', 'Restart') }),
  fc.record({ hold: fc.constantFrom(virtualMachines, virtualMachineInstances, pods) }),
  fc.record({ refuse: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ lose: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ crashAfter: fc.nat(3) }),
  fc.record({ wait: fc.constantFrom(1000, 12_000, 60_000) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const key = { namespace: 'default', name: 'vm' };
const controllers = [
  createVirtualMachineController,
  (deps: Parameters<typeof createVirtualMachineController>[0]) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
];

class Life {
  readonly harness = new Harness();
  readonly history = new History();
  readonly node = new SimulatedNode(this.harness.client, this.harness.clock);
  readonly user = new SimulatedUser(this.harness.client);
  readonly way: UnreliableWay;
  readonly #end = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(refused: typeof pods | typeof virtualMachineInstances) {
    this.way = new UnreliableWay(refused);
  }

  async begin(): Promise<void> {
    this.harness.through = this.way.through;
    this.#following = this.history.follow(this.harness.client, this.#end.signal);
    await this.harness.client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: key.namespace, name: 'data' },
      status: { phase: 'Bound' },
    });
    await this.harness.start(...controllers);
    await this.harness.createVm();
  }

  async end(): Promise<void> {
    this.way.release();
    await this.harness.stop();
    this.#end.abort();
    await this.#following;
  }

  async live(what: Step): Promise<void> {
    if (typeof what === 'string') await this.#act(what);
    else if ('strategy' in what) this.user.respec({ runStrategy: what.strategy });
    else if ('request' in what) this.user.request(what.request);
    else if ('hold' in what)
      this.way.hold<VirtualMachine>({ ...virtualMachines, resource: what.hold.resource });
    else if ('refuse' in what) this.way.refusals = what.refuse;
    else if ('lose' in what) this.way.losses = what.lose;
    else if ('wait' in what) await this.harness.clock.advance(what.wait);
    else await this.#crash(what.crashAfter);
    await settle();
  }

  async #act(what: Extract<Step, string>): Promise<void> {
    const { node, user, harness } = this;
    const { client } = harness;
    switch (what) {
      case 'bind': {
        node.bindPods();
        return;
      }
      case 'startPods': {
        node.startPods();
        return;
      }
      case 'startGuests': {
        node.startGuests();
        return;
      }
      case 'finishPods': {
        node.finishPods();
        return;
      }
      case 'succeed': {
        node.endGuests('Succeeded');
        return;
      }
      case 'fail': {
        node.endGuests('Failed');
        return;
      }
      case 'podSucceeds': {
        node.endPods('Succeeded');
        return;
      }
      case 'podFails': {
        node.endPods('Failed');
        return;
      }
      case 'evict':
        for (const { metadata } of client.all(pods))
          await client.delete(pods, metadata, { gracePeriodSeconds: 30 });
        return;
      case 'vanish':
        for (const { metadata } of client.all(pods)) client.remove(pods, metadata);
        return;
      case 'deleteInstance':
        if (harness.vmi() !== undefined) await client.delete(virtualMachineInstances, key);
        return;
      case 'deleteVm':
        if (harness.vm() !== undefined) await client.delete(virtualMachines, key);
        return;
      case 'changeTemplate': {
        user.changeTemplate();
        return;
      }
      case 'changeSelector': {
        user.changeSelector();
        return;
      }
      case 'askForVolume': {
        user.askForVolume();
        return;
      }
      case 'pause': {
        this.#pause();
        return;
      }
      case 'running':
      case 'notRunning': {
        user.respec({ running: what === 'running' });
        return;
      }
      case 'release': {
        this.way.release();
        return;
      }
    }
  }

  /** As the node agent tells it. */
  #pause(): void {
    if (this.harness.vmi()?.status?.phase !== 'Running') return;
    this.harness.client.put(virtualMachineInstances, key, ({ status, ...vmi }) => ({
      ...vmi,
      status: {
        ...status,
        conditions: [
          ...(status?.conditions ?? []).filter(({ type }) => type !== 'Paused'),
          { type: 'Paused', status: 'True' },
        ],
      },
    }));
  }

  async #crash(writes: number): Promise<void> {
    this.harness.killAfter(writes);
    await this.harness.clock.advance(1000);
    this.harness.killAfter(0);
    this.way.release();
    await this.harness.start(...controllers);
  }

  /** Nothing more goes wrong, and the node does its work. */
  async calm(): Promise<void> {
    this.way.refusals = 0;
    this.way.losses = 0;
    this.way.release();
    for (let round = 0; round < 14; round++) {
      await this.harness.clock.advance(60_000);
      for (const work of ['finishPods', 'bindPods', 'startPods', 'startGuests'] as const) {
        this.node[work]();
        await settle();
      }
    }
  }

  check(): void {
    const { harness } = this;
    const vm = harness.vm();
    const vmi = harness.vmi();
    const launchers = harness.client.all(pods);
    assert.deepEqual(this.history.violations, []);
    if (vm === undefined) {
      assert.equal(vmi, undefined, 'nothing is left of a deleted VM');
      assert.equal(launchers.length, 0);
      return;
    }
    assert.equal(vm.metadata.deletionTimestamp, undefined, 'a deleted VM goes');
    assert.ok(vm.metadata.finalizers?.includes(finalizers.virtualMachine));
    const { status = {} } = vm;
    assert.equal(status.printableStatus, this.#expected(vm));
    assert.equal(status.created ?? false, vmi !== undefined);
    assert.equal(status.ready ?? false, isConditionTrue(vmi?.status?.conditions, 'Ready'));
    assert.equal(status.stateChangeRequests, undefined, 'no request is left');
    assert.equal(status.volumeRequests, undefined, 'no volume is still asked for');
    assert.equal(status.desiredGeneration, vm.metadata.generation);
    this.#checkInstance(vm);
    assert.ok(launchers.length <= (vmi === undefined ? 0 : 1));
    if (vmi?.status?.phase === 'Running') assert.equal(launchers.length, 1);
  }

  /** It is as its VM, but for what waits for a restart; and what it was started from is kept, and nothing else is. */
  #checkInstance(vm: VirtualMachine): void {
    const { client } = this.harness;
    const vmi = this.harness.vmi();
    const revisions = client.all(controllerRevisions).map(({ metadata }) => metadata.name);
    assert.ok(revisions.length <= 1, 'revisions of earlier starts are gone');
    if (vmi === undefined) return;
    assert.deepEqual(revisions, [vmi.status?.virtualMachineRevisionName]);
    if (isFinal(vmi)) return;
    assert.deepEqual(vmi.spec.nodeSelector, vm.spec.template.spec?.nodeSelector);
    const restartRequired = isConditionTrue(vm.status?.conditions, 'RestartRequired');
    assert.equal(
      restartRequired,
      !isDeepStrictEqual(fixedFields(vmi.spec), fixedFields(vm.spec.template.spec)),
    );
    const paused = isConditionTrue(vmi.status?.conditions, 'Paused');
    const gate = isConditionTrue(client.all(pods)[0]?.status?.conditions, unpausedGate);
    if (vmi.status?.phase === 'Running') assert.equal(gate, !paused);
  }

  /** What ended by itself stays ended, but where the strategy starts it again. */
  #expected(vm: VirtualMachine): string {
    const vmi = this.harness.vmi();
    const running = isConditionTrue(vmi?.status?.conditions, 'Paused') ? 'Paused' : 'Running';
    switch (runStrategyOf(vm)) {
      case 'Always':
        assert.equal(vmi?.status?.phase, 'Running');
        return running;
      case 'Halted':
        assert.equal(vmi, undefined);
        return 'Stopped';
      case 'RerunOnFailure':
        assert.notEqual(vmi?.status?.phase, 'Failed');
        return vmi === undefined || isFinal(vmi) ? 'Stopped' : running;
      case 'Once':
        // It is not started again, but would have to wait if somebody deleted the instance.
        if (vmi?.status?.phase === 'Failed' && vm.status?.startFailure !== undefined)
          return 'CrashLoopBackOff';
        return vmi === undefined || isFinal(vmi) ? 'Stopped' : running;
      default:
        return vmi === undefined || isFinal(vmi) ? 'Stopped' : running;
    }
  }
}

/** Of those that change here, the ones that only a restart changes. */
const fixedFields = (spec: VirtualMachineInstanceSpec | undefined): unknown => [
  spec?.hostname,
  spec?.volumes,
];

test('ends as the spec says, whatever happens on the way', async () => {
  const refused = fc.constantFrom(pods, virtualMachineInstances);
  await fc.assert(
    fc.asyncProperty(refused, fc.array(step, { maxLength: 25 }), async (kind, steps) => {
      const life = new Life(kind);
      await life.begin();
      try {
        for (const each of steps) await life.live(each);
        await life.calm();
        life.check();
        const writes = life.harness.client.writes.length;
        await life.harness.clock.advance(600_000);
        assert.equal(life.harness.client.writes.length, writes, 'at rest nothing is written');
      } finally {
        await life.end();
      }
    }),
    { numRuns: lives, includeErrorInReport: true },
  );
});
