/** Random choices that a seed determines. */
export interface Random {
  /** From 0 to below 1. */
  fraction(): number;
  /** From 0 to below `bound`. */
  integer(bound: number): number;
  pick<T>(items: readonly T[]): T;
}

/** A linear congruential generator with the constants of Numerical Recipes; its high bits are what is used. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const integer = (bound: number): number => Math.floor(fraction() * bound);
  return {
    fraction,
    integer,
    pick: (items) => {
      const item = items[integer(items.length)];
      if (item === undefined) throw new RangeError('there is nothing to pick from');
      return item;
    },
  };
}
