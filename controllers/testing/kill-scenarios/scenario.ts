/** A life in which controllers have something to do at every turn. */
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { ControllerDependencies } from '../../dependencies.js';
import { createGarbageCollector } from '../../garbage-collector/garbage-collector.js';
import type { ControllerName } from '../../manager.js';
import type { Kind } from '../../runtime/client.js';
import type { Runnable } from '../../runtime/controller.js';
import { createSchedulerController } from '../../scheduler/scheduler.js';
import { createVirtualMachineInstanceController } from '../../virtual-machine-instance/virtual-machine-instance-controller.js';
import { discovering } from '../fake-discovery.js';
import type { Harness } from '../harness.js';

type Create = (deps: ControllerDependencies) => Runnable;

export interface Scenario {
  readonly name: string;
  readonly controllers: Readonly<Partial<Record<ControllerName, Create>>>;
  /** Whose births and end are compared. */
  readonly kinds: readonly Kind<KubernetesObject>[];
  /** A node runs the pods that are bound to it. */
  readonly pods: boolean;
  prepare(harness: Harness): Promise<unknown>;
  /** Between them everything settles. */
  readonly steps: readonly ((harness: Harness) => Promise<unknown>)[];
  /** What else must be true in the end. */
  check?(harness: Harness): void;
}

export const key = (name: string) => ({ namespace: 'default', name });
/** Templates have no identity, though their type knows the fields. */
export const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
export const web = { app: 'web' };

export const launching = {
  'virtual-machine-instance': (deps: ControllerDependencies) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  scheduler: createSchedulerController,
};

export function collecting(...kinds: readonly Kind<KubernetesObject>[]): Scenario['controllers'] {
  const discovery = discovering(...kinds);
  return { 'garbage-collector': (deps) => createGarbageCollector(deps, discovery) };
}

export const advance =
  (milliseconds: number) =>
  (harness: Harness): Promise<void> =>
    harness.clock.advance(milliseconds);

/** A process that has just been started begins to wait anew; nobody kills it so often in one life. */
export const patiently = (milliseconds: number) =>
  Array<ReturnType<typeof advance>>(8).fill(advance(milliseconds));
