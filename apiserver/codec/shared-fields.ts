/**
 * Field sets in wire form (FieldsV1) by their text. Objects that one client makes have the same fields, and ownership is a third of an
 * object's text: what was parsed or written lately is not parsed or written again.
 */
export type FieldsV1 = Readonly<Record<string, unknown>>;

/** Longer ones are rare, and would hold much memory. */
const longestText = 16 * 1024;
const mostTexts = 256;

export class SharedFields {
  /** In the order in which they came. */
  readonly #known = new Map<string, FieldsV1>();
  readonly #texts = new WeakMap<FieldsV1, string>();

  /** What `text` says. It is shared and frozen: who wants to change it needs a copy. */
  parse(text: string): FieldsV1 {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const fields = freeze(JSON.parse(text) as FieldsV1);
    // A text of our own, as the one given may be a part of a large one, which it would keep in memory.
    const own = JSON.stringify(fields);
    if (own.length > longestText || own !== text) return fields;
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= mostTexts) this.#known.delete(oldest);
    this.#known.set(own, fields);
    this.#texts.set(fields, own);
    return fields;
  }

  stringify(fields: FieldsV1): string {
    return this.#texts.get(fields) ?? JSON.stringify(fields);
  }
}

function freeze<T extends object>(value: T): T {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) freeze(member);
  return Object.freeze(value);
}

/** Of this process. */
export const sharedFields = new SharedFields();
