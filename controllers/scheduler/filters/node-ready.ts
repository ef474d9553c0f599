import type { Node } from '../../../openapi/generated/types/core_v1.js';
import { findCondition } from '../../runtime/conditions.js';
import type { Filter } from './filter.js';

export function isNodeReady({ status }: Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'True';
}

export const nodeReady: Filter =
  () =>
  ({ node }) =>
    isNodeReady(node) ? [] : ['node(s) were not ready'];
