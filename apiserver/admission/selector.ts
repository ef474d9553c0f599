import type { LabelSelector, StatusCause } from '../../openapi/meta.js';
import { compileLabelSelector, SelectorError, type Labels } from '../../openapi/selectors.js';
import { invalid, type FieldPath } from './causes.js';

/** What makes objects from a template must find them again: its selector is well formed and matches the template's labels. */
export function selectorCauses(selector: LabelSelector, labels: Labels, at: FieldPath): StatusCause[] {
  try {
    const matcher = compileLabelSelector(selector);
    if (matcher.matches(labels)) return [];
    return [
      invalid(
        at,
        `${matcher.toString()} does not match the labels of the template, ${JSON.stringify(labels ?? {})}`,
      ),
    ];
  } catch (error) {
    if (error instanceof SelectorError) return [invalid(at, error.message)];
    throw error;
  }
}
