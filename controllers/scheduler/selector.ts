import type { LabelSelector } from '../../openapi/meta.js';
import { SelectorError, compileLabelSelector, nothing, type LabelMatcher } from '../../openapi/selectors.js';

/** Informers share their objects and nobody changes them, so what was compiled once holds. */
const known = new WeakMap<LabelSelector, LabelMatcher>();

/** One pod with a selector that makes no sense must not keep all others from being placed: it selects nothing. */
export function selectorOf(selector: LabelSelector | undefined): LabelMatcher {
  const before = selector === undefined ? undefined : known.get(selector);
  if (before !== undefined) return before;
  const matcher = compile(selector);
  if (selector !== undefined) known.set(selector, matcher);
  return matcher;
}

function compile(selector: LabelSelector | undefined): LabelMatcher {
  try {
    return compileLabelSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) return nothing;
    throw error;
  }
}
