/** What every controller is given. */
import type { Client } from './runtime/client.js';
import type { Clock } from './runtime/clock.js';
import type { ControllerMetrics } from './runtime/controller.js';
import type { EventRecorder } from './runtime/event-recorder.js';
import type { Informers } from './runtime/informers.js';
import type { Logger } from './runtime/logger.js';
import type { RateLimiterOptions } from './runtime/rate-limiter.js';

export interface ControllerDependencies {
  readonly client: Client;
  readonly informers: Informers;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  /** Events under the name of one component. */
  readonly recorder: (component: string) => EventRecorder;
  /** How fast failures are tried again. */
  readonly limits?: RateLimiterOptions | undefined;
  readonly metrics?: ControllerMetrics | undefined;
}
