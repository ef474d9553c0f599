/** Starts `scale-controllers.ts` in a process of its own, and asks it. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { systemClock } from '../../controllers/runtime/clock.js';
import type { ControllerFigures, ControllerProgress } from './scale-controllers.js';

const pollInterval = 100;

export class ControllersProcess {
  readonly #child: ChildProcess;

  constructor(kubeconfig: string, volumeDirectory: string) {
    this.#child = fork(
      path.join(import.meta.dirname, 'scale-controllers.ts'),
      [kubeconfig, volumeDirectory],
      { execArgv: ['--expose-gc', '--import', 'tsx'] },
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async figures(): Promise<ControllerFigures> {
    return (await this.#ask('figures')) as ControllerFigures;
  }

  /** Resolves when every VM has been looked at and nothing waits any more. */
  async idle(machines: number): Promise<void> {
    for (;;) {
      const { waiting, machinesSeen } = (await this.#ask('progress')) as ControllerProgress;
      if (waiting === 0 && machinesSeen >= machines) return;
      await new Promise<void>((resolve) => {
        systemClock.timer(pollInterval, resolve);
      });
    }
  }

  /** As a machine that fails does: without a word. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  async #ask(question: 'figures' | 'progress'): Promise<unknown> {
    const ended = new AbortController();
    const onExit = (): void => {
      ended.abort(new Error('the controllers have ended'));
    };
    this.#child.once('exit', onExit);
    try {
      const answer = once(this.#child, 'message', { signal: ended.signal });
      this.#child.send(question);
      const [message] = (await answer) as [unknown];
      return message;
    } finally {
      this.#child.off('exit', onExit);
    }
  }
}
