import type { Taint, Toleration } from '../../../openapi/generated/types/core_v1.js';
import type { Filter } from './filter.js';

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  // Without a key it must be `Exists`, and tolerates everything.
  if (key === undefined || key === '') return operator === 'Exists';
  if (key !== taint.key) return false;
  switch (operator) {
    case 'Exists':
      return true;
    case 'Gt':
      return Number(taint.value) > Number(value);
    case 'Lt':
      return Number(taint.value) < Number(value);
    case 'Equal':
    case undefined:
      return (value ?? '') === (taint.value ?? '');
  }
}

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return (tolerations ?? []).some((toleration) => tolerates(toleration, taint));
}

const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export const taints: Filter =
  ({ spec: { tolerations } = {} }) =>
  ({ node }) => {
    if (node.spec?.unschedulable === true && !isTolerated(cordon, tolerations))
      return ['node(s) were unschedulable'];
    const hindering = (node.spec?.taints ?? []).some(
      (taint) =>
        taint.effect !== 'PreferNoSchedule' && taint.key !== cordon.key && !isTolerated(taint, tolerations),
    );
    return hindering ? ['node(s) had untolerated taint(s)'] : [];
  };
