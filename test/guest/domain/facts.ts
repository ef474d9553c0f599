/**
 * What a guest can tell of its hardware, as lines `name → value` that are the same for a libvirt domain and for a QEMU
 * command line which make the same machine. Names: `cpu.…`, `memory.…`, `feature.…`, `clock.…`, `os.…`, `pin.…`, and
 * `device.<kind>.<id>.…`.
 */
export type Facts = ReadonlyMap<string, string>;

export class FactSheet {
  private readonly facts = new Map<string, string>();

  /** Undefined says nothing. */
  set(name: string, value: string | number | boolean | undefined): void {
    if (value !== undefined) this.facts.set(name, String(value));
  }

  get(name: string): string | undefined {
    return this.facts.get(name);
  }

  /** A fact of the next of several alike. */
  count(name: string): void {
    this.facts.set(name, String(Number(this.facts.get(name) ?? 0) + 1));
  }

  get all(): Facts {
    return this.facts;
  }
}

export interface Difference {
  readonly fact: string;
  readonly domain: string | undefined;
  readonly commandLine: string | undefined;
}

export function differences(domain: Facts, commandLine: Facts): Difference[] {
  const names = [...new Set([...domain.keys(), ...commandLine.keys()])].sort();
  return names
    .map((fact) => ({ fact, domain: domain.get(fact), commandLine: commandLine.get(fact) }))
    .filter((pair) => pair.domain !== pair.commandLine);
}

const mebibyte = 1 << 20;

/** Both libvirt and QEMU count a guest's memory in whole MiB. */
export function wholeMebibytes(bytes: number): number {
  return Math.ceil(bytes / mebibyte) * mebibyte;
}
