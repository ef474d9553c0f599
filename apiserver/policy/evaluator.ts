/** Evaluates policies in a thread of their own, in turn, each within its time. */
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { Question, Verdict } from './authorizer-value.js';
import type { PolicyOutcome } from './evaluation.js';
import type { MutationOutcome } from './mutation-evaluation.js';
import type {
  EvaluationOutcome,
  EvaluationRequest,
  MutationRequest,
  ValidationRequest,
  WorkerData,
  WorkerMessage,
} from './protocol.js';

export interface PolicyEvaluator {
  /** Rejects, saying why, if there is no outcome. `ask` answers what the policy asks of the authorizer. */
  validate(request: ValidationRequest, ask: AskLater): Promise<PolicyOutcome>;
  mutate(request: MutationRequest, ask: AskLater): Promise<MutationOutcome>;
}

/** Does not reject. */
export type AskLater = (question: Question) => Promise<Verdict>;

export interface ThreadEvaluatorOptions {
  /** What the thread runs. */
  readonly worker?: URL;
  /** Milliseconds that an evaluation may take. */
  readonly timeLimit?: number;
  /** So many may wait. */
  readonly maximumWaiting?: number;
}

/** Beside the bundle that this becomes part of, the build puts one of the worker. */
const builtOrSource = import.meta.url.endsWith('.ts')
  ? new URL('worker-from-source.mjs', import.meta.url)
  : new URL('policy-worker.js', import.meta.url);

/** Megabytes that a policy may fill. */
const memoryLimit = 128;

interface Job {
  readonly request: EvaluationRequest;
  readonly ask: AskLater;
  resolve(outcome: EvaluationOutcome): void;
  reject(error: Error): void;
}

/** A thread, and how it gets answers while it waits for them. */
interface Thread {
  readonly worker: Worker;
  readonly answers: MessagePort;
  readonly answered: Int32Array;
}

export class ThreadEvaluator implements PolicyEvaluator {
  readonly #waiting: Job[] = [];
  readonly #options: Required<ThreadEvaluatorOptions>;
  #thread: Thread | undefined;
  /** The worker listens. */
  #ready = false;
  #running: Job | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ThreadEvaluatorOptions = {}) {
    this.#options = { worker: builtOrSource, timeLimit: 2000, maximumWaiting: 1000, ...options };
  }

  async validate(request: ValidationRequest, ask: AskLater): Promise<PolicyOutcome> {
    const answer = await this.#evaluate({ type: 'validation', ...request }, ask);
    if (answer.type === 'validation') return answer.outcome;
    throw new Error('the policy worker answers what nobody asked');
  }

  async mutate(request: MutationRequest, ask: AskLater): Promise<MutationOutcome> {
    const answer = await this.#evaluate({ type: 'mutation', ...request }, ask);
    if (answer.type === 'mutation') return answer.outcome;
    throw new Error('the policy worker answers what nobody asked');
  }

  #evaluate(request: EvaluationRequest, ask: AskLater): Promise<EvaluationOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw new Error('the server is stopping');
      if (this.#waiting.length >= this.#options.maximumWaiting)
        throw new Error(`${this.#options.maximumWaiting} evaluations are waiting already`);
      this.#waiting.push({ request, ask, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(new Error('the server is stopping'));
    await this.#end('the server is stopping');
  }

  #next(): void {
    if (this.#running !== undefined || this.#waiting.length === 0) return;
    this.#thread ??= this.#start();
    if (!this.#ready) return;
    const job = this.#waiting.shift();
    this.#running = job;
    this.#thread.worker.postMessage(job?.request);
    const { timeLimit } = this.#options;
    this.#deadline = setTimeout(() => {
      void this.#end(`it did not finish within ${timeLimit} ms`).then(() => {
        this.#next();
      });
    }, timeLimit);
  }

  #start(): Thread {
    const { port1: answers, port2 } = new MessageChannel();
    const answered = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const workerData: WorkerData = { answers: port2, answered };
    const worker = new Worker(this.#options.worker, {
      workerData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: memoryLimit },
    });
    const thread = { worker, answers, answered: new Int32Array(answered) };
    worker.unref();
    answers.unref();
    worker.on('message', (message: WorkerMessage) => {
      if (thread === this.#thread) this.#take(message, thread);
    });
    const gone = (why: string): void => {
      if (thread !== this.#thread) return;
      void this.#end(why);
      // What comes next starts a new one; those that wait would do so for ever if it can not start at all.
      for (const job of this.#waiting.splice(0)) job.reject(new Error(why));
    };
    worker.on('error', (error) => {
      gone(`the policy worker ended: ${error.message}`);
    });
    worker.on('exit', () => {
      gone('the policy worker ended');
    });
    return thread;
  }

  #take(message: WorkerMessage, thread: Thread): void {
    if (message.type === 'question') {
      void this.#running?.ask(message.question).then((verdict) => {
        thread.answers.postMessage(verdict);
        Atomics.store(thread.answered, 0, 1);
        Atomics.notify(thread.answered, 0);
      });
      return;
    }
    if (message.type === 'ready') this.#ready = true;
    else {
      const job = this.#settle();
      if (message.type === 'failure') job?.reject(new Error(message.message));
      else job?.resolve(message);
    }
    this.#next();
  }

  #settle(): Job | undefined {
    clearTimeout(this.#deadline);
    const job = this.#running;
    this.#running = undefined;
    return job;
  }

  /** Ends the thread, and what runs in it. */
  async #end(why: string): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#ready = false;
    this.#settle()?.reject(new Error(why));
    thread?.answers.close();
    await thread?.worker.terminate();
  }
}
