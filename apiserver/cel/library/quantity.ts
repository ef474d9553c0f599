/** Quantities: `quantity("1.5Gi").isGreaterThan(quantity("1G"))`. */
import { formatQuantity, isQuantity, parseQuantity, type ParsedQuantity } from '../../../openapi/quantity.js';
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type Library } from './function.js';

const perUnit = 1_000_000_000n;

class QuantityValue extends Opaque {
  readonly type = 'kubernetes.Quantity';

  constructor(readonly quantity: ParsedQuantity) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof QuantityValue && other.quantity.nanos === this.quantity.nanos;
  }

  override call(name: string, [other]: readonly Value[]): Value | undefined {
    const { nanos, format } = this.quantity;
    const operand =
      other instanceof QuantityValue
        ? other.quantity.nanos
        : typeof other === 'bigint'
          ? other * perUnit
          : undefined;
    if (other !== undefined && operand !== undefined) {
      if (name === 'add') return new QuantityValue({ nanos: nanos + operand, format });
      if (name === 'sub') return new QuantityValue({ nanos: nanos - operand, format });
      if (!(other instanceof QuantityValue)) return undefined;
      if (name === 'isGreaterThan') return nanos > operand;
      if (name === 'isLessThan') return nanos < operand;
      if (name === 'compareTo') return nanos < operand ? -1n : nanos > operand ? 1n : 0n;
      return undefined;
    }
    switch (name) {
      case 'sign':
        return nanos < 0n ? -1n : nanos > 0n ? 1n : 0n;
      case 'isInteger':
        return isInteger(nanos);
      case 'asInteger':
        if (!isInteger(nanos)) throw new EvaluationError('cannot convert value to integer');
        return nanos / perUnit;
      case 'asApproximateFloat':
        return Number(nanos) / Number(perUnit);
      case 'string':
        return formatQuantity(this.quantity);
      default:
        return undefined;
    }
  }
}

const isInteger = (nanos: bigint): boolean =>
  nanos % perUnit === 0n && BigInt.asIntN(64, nanos / perUnit) === nanos / perUnit;

export const quantities: Library = {
  isQuantity: onText((text) => isQuantity(text)),
  quantity: onText((text) => {
    if (!isQuantity(text))
      throw new EvaluationError(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      );
    return new QuantityValue(parseQuantity(text));
  }),
};
