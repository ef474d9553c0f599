import type { CommandLine } from '../../../launcher/qemu/assemble.js';

export type Properties = Readonly<Record<string, unknown>>;

/** The arguments of a QEMU command line, by option. */
export class Arguments {
  private readonly values = new Map<string, string[]>();

  constructor({ argv }: CommandLine) {
    for (let index = 0; index < argv.length; index++) {
      const name = argv[index]?.slice(1) ?? '';
      const next = argv[index + 1];
      const value = next === undefined || /^-[a-z]/.test(next) ? '' : next;
      if (value !== '') index++;
      const list = this.values.get(name) ?? [];
      list.push(value);
      this.values.set(name, list);
    }
  }

  /** Every use of an option, as it was written. */
  all(option: string): readonly string[] {
    return this.values.get(option) ?? [];
  }

  /** Every use of an option whose value is JSON. */
  objects(option: string): Properties[] {
    return this.all(option).map((value) => JSON.parse(value) as Properties);
  }

  /** The fields of every use of an option of the form `word,key=value,…`; the words have the value `on`. */
  fields(option: string): ReadonlyMap<string, string>[] {
    return this.all(option).map((value) => {
      const words = value.replaceAll(',,', '\0').split(',');
      return new Map(
        words.map((word) => {
          const [key = '', ...rest] = word.replaceAll('\0', ',').split('=');
          return [key, rest.length === 0 ? 'on' : rest.join('=')] as const;
        }),
      );
    });
  }
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
