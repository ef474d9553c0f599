import type { Quantity } from '../openapi/meta.js';

const suffixes: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
  m: 1e-3,
};

/** A quantity in its base unit (bytes for memory and storage, cores for CPU); undefined when it is not one. */
export function quantityValue(quantity: Quantity): number | undefined {
  const match = /^\+?(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|([kMGTPE]i?|Ki|m)?)$/.exec(
    String(quantity).trim(),
  );
  if (!match) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = match;
  const factor = suffixes[suffix];
  return factor === undefined ? undefined : Number(`${digits}${exponent}`) * factor;
}

/** Whole bytes, rounded up as Kubernetes does. */
export function quantityBytes(quantity: Quantity): number | undefined {
  const value = quantityValue(quantity);
  return value === undefined ? undefined : Math.ceil(value);
}
