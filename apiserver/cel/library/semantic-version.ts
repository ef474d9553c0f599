/** Semantic versions: `semver("1.2.3").isGreaterThan(semver("1.0.0"))`. */
import { EvaluationError, Opaque, type Value } from '../values.js';
import type { CelFunction, Library } from './function.js';

const number = '(0|[1-9]\\d{0,15})';
const build = '[0-9A-Za-z-]+';
/** Numbers among them have no zeros in front. */
const preRelease = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const strict = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${preRelease}(?:\\.${preRelease})*))?(?:\\+${build}(?:\\.${build})*)?$`,
);

class Version extends Opaque {
  readonly type = 'kubernetes.Semver';

  constructor(
    private readonly numbers: readonly [bigint, bigint, bigint],
    private readonly preRelease: readonly string[],
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Version && this.#order(other) === 0;
  }

  override call(name: string, [other]: readonly Value[]): Value | undefined {
    if (other instanceof Version) {
      const order = this.#order(other);
      if (name === 'isGreaterThan') return order > 0;
      if (name === 'isLessThan') return order < 0;
      return name === 'compareTo' ? BigInt(order) : undefined;
    }
    const place = ['major', 'minor', 'patch'].indexOf(name);
    return other === undefined && place >= 0 ? this.numbers[place] : undefined;
  }

  #order(other: Version): number {
    for (const [index, mine] of this.numbers.entries()) {
      const theirs = other.numbers[index] ?? 0n;
      if (mine !== theirs) return mine < theirs ? -1 : 1;
    }
    if (this.preRelease.length === 0 || other.preRelease.length === 0)
      return Math.sign(other.preRelease.length - this.preRelease.length);
    for (const [index, mine] of this.preRelease.entries()) {
      const theirs = other.preRelease[index];
      if (theirs === undefined) return 1;
      const order = orderOf(mine, theirs);
      if (order !== 0) return order;
    }
    return this.preRelease.length < other.preRelease.length ? -1 : 0;
  }
}

/** Numbers come before words, and count as numbers. */
function orderOf(a: string, b: string): number {
  const [first, second] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (first && second) return Math.sign(Number(BigInt(a) - BigInt(b)));
  if (first !== second) return first ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Without `v`, with what is missing, and without zeros in front. */
function normalized(text: string): string {
  const [, core = '', rest = ''] = /^v?([\d.]*)(.*)$/s.exec(text) ?? [];
  const numbers = core.split('.').map((each) => each.replace(/^0+(?=\d)/, ''));
  while (numbers.length < 3) numbers.push('0');
  return numbers.join('.') + rest;
}

const parse = (text: string): Version | undefined => {
  const [all, major = '', minor = '', patch = '', suffix] = strict.exec(text) ?? [];
  if (all === undefined) return undefined;
  return new Version([BigInt(major), BigInt(minor), BigInt(patch)], suffix?.split('.') ?? []);
};

const onVersion =
  (apply: (version: Version | undefined, text: string) => Value): CelFunction =>
  (text, normalize = false) =>
    typeof text === 'string' && typeof normalize === 'boolean'
      ? apply(parse(normalize ? normalized(text) : text), text)
      : undefined;

export const semanticVersions: Library = {
  isSemver: onVersion((version) => version !== undefined),
  semver: onVersion((version, text) => {
    if (version === undefined)
      throw new EvaluationError(
        text.split('.').length < 3
          ? 'No Major.Minor.Patch elements found'
          : `${JSON.stringify(text)} is no semantic version`,
      );
    return version;
  }),
};
