/** The little of ELF that is needed to know what a program and a kernel module depend on (64 bit, little endian). */

interface Section {
  readonly name: string;
  readonly data: Buffer;
}

function stringAt(table: Buffer, offset: number): string {
  return table.toString('latin1', offset, table.indexOf(0, offset));
}

function readSections(file: Buffer): Section[] {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) {
    throw new Error('not a 64-bit little-endian ELF file');
  }
  const table = Number(file.readBigUInt64LE(40));
  const entrySize = file.readUInt16LE(58);
  const headers = Array.from({ length: file.readUInt16LE(60) }, (_, index) => {
    const at = table + index * entrySize;
    return {
      nameOffset: file.readUInt32LE(at),
      // A section of type 8 (NOBITS) has a size, but nothing in the file.
      inFile: file.readUInt32LE(at + 4) !== 8,
      offset: Number(file.readBigUInt64LE(at + 24)),
      size: Number(file.readBigUInt64LE(at + 32)),
    };
  });
  const data = (header: (typeof headers)[number]): Buffer =>
    header.inFile ? file.subarray(header.offset, header.offset + header.size) : Buffer.alloc(0);
  const namesHeader = headers[file.readUInt16LE(62)];
  if (namesHeader === undefined) throw new Error('an ELF file without section names');
  const names = data(namesHeader);
  return headers.map((header) => ({ name: stringAt(names, header.nameOffset), data: data(header) }));
}

function section(sections: readonly Section[], name: string): Buffer {
  return sections.find((candidate) => candidate.name === name)?.data ?? Buffer.alloc(0);
}

const dynamicTagNeeded = 1n;

/** The sonames of the shared libraries that a program or library needs. */
export function neededLibraries(file: Buffer): string[] {
  const sections = readSections(file);
  const dynamic = section(sections, '.dynamic');
  const strings = section(sections, '.dynstr');
  const needed: string[] = [];
  for (let at = 0; at + 16 <= dynamic.length; at += 16) {
    if (dynamic.readBigUInt64LE(at) === dynamicTagNeeded) {
      needed.push(stringAt(strings, Number(dynamic.readBigUInt64LE(at + 8))));
    }
  }
  return needed;
}

/** The `key=value` strings that a kernel module says of itself: `depends`, `alias`, `softdep` … A key may repeat. */
export function moduleInformation(file: Buffer): [string, string][] {
  return section(readSections(file), '.modinfo')
    .toString('latin1')
    .split('\0')
    .flatMap((text): [string, string][] => {
      const equals = text.indexOf('=');
      return equals > 0 ? [[text.slice(0, equals), text.slice(equals + 1)]] : [];
    });
}
