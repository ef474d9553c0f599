import { clusterScenarios } from './cluster.js';
import { machineScenarios } from './machines.js';
import { nodeScenarios } from './nodes.js';
import type { Scenario } from './scenario.js';
import { setScenarios } from './sets.js';

export const scenarios: readonly Scenario[] = [
  ...machineScenarios,
  ...setScenarios,
  ...nodeScenarios,
  ...clusterScenarios,
];
