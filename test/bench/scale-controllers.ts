/**
 * The controllers in a process of their own, which tells of itself when asked over IPC: `figures`, `progress`. Arguments: kubeconfig,
 * directory of persistent volumes.
 */
import { pino } from 'pino';
import { createControllerManager } from '../../controllers/manager.js';
import type { ControllerMetrics } from '../../controllers/runtime/controller.js';
import { createDiscovery } from '../../controllers/runtime/discovery.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import type { QueueState } from '../../controllers/runtime/work-queue.js';

export interface ControllerFigures {
  /** Bytes that live after a full collection. */
  readonly heap: number;
  /** Milliseconds from when a key could be worked on until it was, since the last question, by controller. */
  readonly latencies: Readonly<Record<string, readonly number[]>>;
  /** How reconciliations ended, by controller and outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface ControllerProgress {
  /** Keys that wait or are worked on, in all queues. */
  readonly waiting: number;
  /** How often a VM was reconciled since the start. */
  readonly machinesSeen: number;
}

const [kubeconfig = '', volumeDirectory = ''] = process.argv.slice(2);
const queues = new Map<string, QueueState>();
let machinesSeen = 0;
let latencies: Record<string, number[]> = {};
let outcomes: Record<string, number> = {};
const metrics: ControllerMetrics = {
  reconciled: (controller, outcome) => {
    const name = `${controller} ${outcome}`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
    if (controller === 'virtual-machine') machinesSeen += 1;
  },
  queue: (controller, state) => void queues.set(controller, state),
  added: () => undefined,
  retried: () => undefined,
  taken: (controller, seconds) => {
    (latencies[controller] ??= []).push(seconds * 1000);
  },
};

function figures(): ControllerFigures {
  if (global.gc === undefined) throw new Error('start with --expose-gc');
  const taken = { latencies, outcomes };
  latencies = {};
  outcomes = {};
  global.gc();
  const { heapUsed, external } = process.memoryUsage();
  // What is measured here is no part of what is measured.
  const own = Object.values(taken.latencies).reduce((sum, values) => sum + values.length * 8, 0);
  return { heap: heapUsed + external - own, ...taken };
}

function progress(): ControllerProgress {
  let waiting = 0;
  for (const queue of queues.values()) waiting += queue.length + queue.workedOnFor().length;
  return { waiting, machinesSeen };
}

process.on('message', (question) => {
  process.send?.(question === 'progress' ? progress() : figures());
});

const name = 'nativirt-controllers';
const client = createHttpClient({
  ...(await loadConnection(kubeconfig)),
  userAgent: name,
  fieldManager: name,
});
await createControllerManager({
  client,
  discovery: createDiscovery(client),
  logger: pino({ level: 'error' }),
  launcher: { launcherImage: 'nativirt-launcher:bench' },
  standalone: { volumeDirectory },
  metrics,
}).run(new AbortController().signal);
