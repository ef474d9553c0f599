import { describe } from 'node:test';
import type { OpenBackend } from './backend-fixture.js';
import { breakTests } from './store-breaks.js';
import { listTests } from './store-lists.js';
import { storeModelTests } from './store-model.js';
import { storeWatchTests } from './store-watch.js';
import { storeWriteTests } from './store-writes.js';

/** The contract of `ObjectStore`, as the watch cache keeps it over any backend. */
export function storeSuite(name: string, open: OpenBackend, options: { readonly runs?: number } = {}): void {
  describe(`${name}: ObjectStore`, () => {
    storeWriteTests(open);
    listTests(open);
    storeWatchTests(open);
    breakTests(open);
    storeModelTests(open, options.runs ?? 20);
  });
}
