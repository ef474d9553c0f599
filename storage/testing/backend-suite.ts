import { describe } from 'node:test';
import type { OpenBackend } from './backend-fixture.js';
import { historyTests } from './backend-history.js';
import { modelTests } from './backend-model.js';
import { watchTests } from './backend-watch.js';
import { writeTests } from './backend-writes.js';

export interface SuiteOptions {
  /** Of each property test. */
  readonly runs?: number;
  /** Writes of tests that need many. */
  readonly many?: number;
}

/** The contract of `Backend`. Every backend runs it; whoever changes the contract changes it here. */
export function backendSuite(name: string, open: OpenBackend, options: SuiteOptions = {}): void {
  describe(`${name}: Backend`, () => {
    writeTests(open);
    historyTests(open);
    watchTests(open, options.many ?? 6000);
    modelTests(open, options.runs ?? 30);
  });
}
