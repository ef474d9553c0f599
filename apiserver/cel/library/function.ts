/** What a library is made of. */
import type { Value } from '../values.js';

/** Called freely or on the first value. Undefined: not for these types. Throws `EvaluationError`. */
export type CelFunction = (...values: readonly (Value | undefined)[]) => Value | undefined;

export type Library = Readonly<Record<string, CelFunction>>;

export const onText =
  (apply: (text: string) => Value | undefined): CelFunction =>
  (text, ...rest) =>
    typeof text === 'string' && rest.length === 0 ? apply(text) : undefined;

export const onTexts =
  (apply: (text: string, other: string) => Value | undefined): CelFunction =>
  (text, other, ...rest) =>
    typeof text === 'string' && typeof other === 'string' && rest.length === 0
      ? apply(text, other)
      : undefined;
