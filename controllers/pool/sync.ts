/** What is done to the VMs of a pool, a step at a time: heal, then scale, then update, then forget old revisions. */
import { isDeepStrictEqual } from 'node:util';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachinePool } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { LabelMatcher } from '../../openapi/selectors.js';
import { burstLimit, inGrowingBatches } from '../batches.js';
import { labels, type PrintableStatus } from '../constants.js';
import type { ReplicaFailure } from '../replica-status.js';
import type { ObjectKey } from '../runtime/client.js';
import type { Clock } from '../runtime/clock.js';
import { isAlreadyExists, isConflict } from '../runtime/errors.js';
import { replacementDue } from './autohealing.js';
import { nameOf, type NamedDesign } from './machine.js';
import type { Machine, Machines, Removal } from './machines.js';
import type { Revisions } from './revisions.js';
import { isAvailable, isDown, mostUnavailable, stepFor, waitsForDisks, type Step } from './rollout.js';
import { inOrder } from './selection.js';

export interface PoolSyncDependencies {
  readonly machines: Machines;
  readonly revisions: Revisions;
  readonly isTaken: (key: ObjectKey) => boolean;
  readonly nodeOf: (machine: Machine) => Node | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

export interface Outcome {
  /** All VMs of the pool, those that are being deleted too. */
  readonly machines: readonly Machine[];
  readonly failure?: ReplicaFailure;
  /** To be thrown once the status is written. */
  readonly error?: Error;
  /** Milliseconds. */
  readonly requeueAfter?: number;
}

/** Reasons of the failure condition. */
const scaleOut = 'FailedScaleOut';
const scaleIn = 'FailedScaleIn';
const update = 'FailedUpdate';

const isLeaving = ({ vm }: Machine): boolean => vm.metadata.deletionTimestamp !== undefined;

export class PoolSync {
  constructor(private readonly deps: PoolSyncDependencies) {}

  async run(
    pool: VirtualMachinePool,
    selector: LabelMatcher,
    machines: readonly Machine[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { virtualMachineTemplate, replicas = 1 } = pool.spec;
    if (!selector.matches(virtualMachineTemplate.metadata?.labels)) {
      const message =
        'spec.selector does not match the labels of spec.virtualMachineTemplate: what is made would be lost';
      return { machines, failure: { reason: scaleOut, message } };
    }
    const { failing, requeueAfter } = this.#findFailing(pool, machines);
    if (failing.length > 0) return this.#remove(pool, machines, failing, 'remade', signal);
    const wait = requeueAfter === undefined ? {} : { requeueAfter };
    let revision: NamedDesign;
    try {
      revision = await this.deps.revisions.current(pool, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      return { machines, ...failed(scaleOut, error), ...wait };
    }
    if (machines.length < replicas)
      return { ...(await this.#add(pool, revision, machines, replicas - machines.length, signal)), ...wait };
    const excess = this.#chooseExcess(pool, machines, replicas);
    if (excess.length > 0)
      return { ...(await this.#remove(pool, machines, excess, 'excess', signal)), ...wait };
    return { machines, ...(await this.#update(pool, revision, machines, signal)), ...wait };
  }

  #findFailing(
    { spec: { autohealing } }: VirtualMachinePool,
    machines: readonly Machine[],
  ): { failing: Machine[]; requeueAfter: number | undefined } {
    if (autohealing === undefined) return { failing: [], requeueAfter: undefined };
    const now = this.deps.clock.now();
    const due = machines
      .filter((machine) => !isLeaving(machine))
      .flatMap((machine) => {
        const ms = replacementDue(machine.vm, autohealing, now);
        return ms === undefined ? [] : [{ machine, ms }];
      });
    const failing = due.filter(({ ms }) => ms === 0).map(({ machine }) => machine);
    return { failing, requeueAfter: due.length === 0 ? undefined : Math.min(...due.map(({ ms }) => ms)) };
  }

  /** One that is being deleted keeps its number until it is gone: its successor takes it over. */
  async #add(
    pool: VirtualMachinePool,
    revision: NamedDesign,
    machines: readonly Machine[],
    missing: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { namespace } = pool.metadata;
    const ordinals: number[] = [];
    for (let ordinal = 0; ordinals.length < Math.min(missing, burstLimit); ordinal++)
      if (!this.deps.isTaken({ namespace, name: nameOf(pool, ordinal) })) ordinals.push(ordinal);
    const { done, error } = await inGrowingBatches(ordinals, (ordinal) =>
      this.deps.machines.create(pool, revision, ordinal, signal),
    );
    return { machines: [...machines, ...done], ...failed(scaleOut, error) };
  }

  #chooseExcess(pool: VirtualMachinePool, machines: readonly Machine[], replicas: number): Machine[] {
    const { unmanaged, opportunistic, proactive } = pool.spec.scaleInStrategy ?? {};
    const staying = machines.filter((machine) => !isLeaving(machine));
    const count = Math.min(staying.length - replicas, burstLimit);
    if (count <= 0 || unmanaged !== undefined) return [];
    const candidates = opportunistic === undefined ? staying : staying.filter(isStopped);
    const { nodeOf, random } = this.deps;
    return inOrder(proactive?.selectionPolicy, candidates, nodeOf, random).slice(0, count);
  }

  async #remove(
    pool: VirtualMachinePool,
    machines: readonly Machine[],
    doomed: readonly Machine[],
    why: Removal,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { error } = await inGrowingBatches(doomed.slice(0, burstLimit), ({ vm }) =>
      this.deps.machines.delete(pool, vm, why, signal),
    );
    return { machines, ...failed(scaleIn, error) };
  }

  async #update(
    pool: VirtualMachinePool,
    revision: NamedDesign,
    machines: readonly Machine[],
    signal: AbortSignal,
  ): Promise<Omit<Outcome, 'machines'>> {
    const { unmanaged, opportunistic } = pool.spec.updateStrategy ?? {};
    const staying = machines.filter((machine) => !isLeaving(machine));
    if (unmanaged === undefined) {
      const outdated = staying.filter((machine) => !this.#isOf(pool, machine, revision));
      const updated = await this.#updateMachines(pool, revision, outdated, signal);
      // What instances are to be is only known when the informer shows what their VMs are.
      if (outdated.length > 0) return updated;
      // Who has never started will not be restarted by itself.
      const rolling = opportunistic === undefined ? machines : machines.filter(waitsForDisks);
      const rolled = await this.#rollOut(pool, rolling, signal);
      if (rolled.error !== undefined) return rolled;
    }
    const used = machines.flatMap(({ vm, vmi }) => [revisionNameOf(vm), revisionNameOf(vmi)]);
    await this.deps.revisions.prune(pool, new Set([revision.name, ...used]), signal);
    return {};
  }

  #isOf(pool: VirtualMachinePool, { vm }: Machine, { name, design }: NamedDesign): boolean {
    const shown = revisionNameOf(vm);
    return shown === name || isDeepStrictEqual(this.deps.revisions.find(pool, shown)?.design, design);
  }

  async #updateMachines(
    pool: VirtualMachinePool,
    revision: NamedDesign,
    outdated: readonly Machine[],
    signal: AbortSignal,
  ): Promise<Omit<Outcome, 'machines'>> {
    const { machines, revisions } = this.deps;
    const { error } = await inGrowingBatches(outdated.slice(0, burstLimit), ({ vm }) =>
      machines.update(pool, vm, revisions.find(pool, revisionNameOf(vm)), revision, signal),
    );
    return failed(update, error);
  }

  /** Those that serve nobody are restarted at once, the others only as long as enough of them serve. */
  async #rollOut(
    pool: VirtualMachinePool,
    machines: readonly Machine[],
    signal: AbortSignal,
  ): Promise<Omit<Outcome, 'machines'>> {
    const { revisions, nodeOf, random } = this.deps;
    const steps = new Map<Machine, Step>();
    for (const machine of machines) {
      const step = isLeaving(machine) ? undefined : stepFor(machine, (name) => revisions.find(pool, name));
      if (step !== undefined) steps.set(machine, step);
    }
    const budget = Math.max(0, mostUnavailable(pool.spec) - machines.filter(isDown).length);
    const serving = [...steps.keys()].filter(({ vmi }) => isAvailable(vmi));
    const policy = pool.spec.updateStrategy?.proactive?.selectionPolicy;
    const next = [
      ...[...steps.keys()].filter(({ vmi }) => !isAvailable(vmi)),
      ...inOrder(policy, serving, nodeOf, random).slice(0, budget),
    ];
    const { error } = await inGrowingBatches(next, (machine) =>
      this.#take(pool, machine, steps.get(machine), signal),
    );
    return failed(update, error);
  }

  async #take(
    pool: VirtualMachinePool,
    { vm, vmi }: Machine,
    step: Step | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (step === 'remake') await this.deps.machines.delete(pool, vm, 'remade', signal);
    else if (vmi !== undefined) await this.deps.machines.restart(pool, vm, vmi, signal);
  }
}

function isStopped({ vm, vmi }: Machine): boolean {
  return vmi === undefined && vm.status?.printableStatus === ('Stopped' satisfies PrintableStatus);
}

function revisionNameOf(object: Machine['vm'] | Machine['vmi']): string {
  return object?.metadata.labels?.[labels.poolRevision] ?? '';
}

/** What only shows that the informer lags behind is tried again, but is no failure of the pool. */
function failed(reason: string, error: Error | undefined): Pick<Outcome, 'failure' | 'error'> {
  if (error === undefined) return {};
  if (isAlreadyExists(error) || isConflict(error)) return { error };
  return { failure: { reason, message: error.message }, error };
}
