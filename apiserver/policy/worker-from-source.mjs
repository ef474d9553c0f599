/** Starts the policy worker where nothing is built: a thread does not inherit how the main one reads TypeScript. */
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
