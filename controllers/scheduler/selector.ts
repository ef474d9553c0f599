import type { LabelSelector } from '../../openapi/meta.js';
import { SelectorError, compileLabelSelector, nothing, type LabelMatcher } from '../../openapi/selectors.js';

/** One pod with a selector that makes no sense must not keep all others from being placed: it selects nothing. */
export function selectorOf(selector: LabelSelector | undefined): LabelMatcher {
  try {
    return compileLabelSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return nothing;
    throw error;
  }
}
