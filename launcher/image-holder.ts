import { chmodSync, writeFileSync } from 'node:fs';

/**
 * The program that keeps a container of a disk image alive: such an image has no program of its own and no libraries, so this one is a
 * whole executable of a few instructions. It waits for SIGTERM or SIGINT and ends with status 0; as process 1 of a container it
 * would not get either without waiting for them.
 */
export function imageHolderProgram(architecture: string = process.arch): Buffer {
  if (architecture !== 'x64') throw new Error(`there is no image holder for ${architecture}`);
  return elf(Buffer.concat([instructions, signals]));
}

export function writeImageHolder(path: string): void {
  writeFileSync(path, imageHolderProgram());
  chmodSync(path, 0o755);
}

/** As the kernel wants a set of signals: SIGINT is 2, SIGTERM is 15. */
const signals = Buffer.alloc(8);
signals.writeBigUInt64LE((1n << 1n) | (1n << 14n));

const instructions = Buffer.from(
  [
    'b80e000000', // mov eax, 14             rt_sigprocmask(
    '31ff', //       xor edi, edi              SIG_BLOCK,
    '488d352f000000', // lea rsi, [rip+0x2f]   signals,
    '31d2', //       xor edx, edx              null,
    '41ba08000000', // mov r10d, 8             8)
    '0f05', //       syscall
    'b880000000', // mov eax, 128            rt_sigtimedwait(
    '488d3d19000000', // lea rdi, [rip+0x19]   signals,
    '31f6', //       xor esi, esi              null,
    '31d2', //       xor edx, edx              null,
    '41ba08000000', // mov r10d, 8             8)
    '0f05', //       syscall
    '85c0', //       test eax, eax
    '7ee4', //       jle -28                 again, unless it is a signal's number
    'b83c000000', // mov eax, 60             exit(
    '31ff', //       xor edi, edi              0)
    '0f05', //       syscall
  ].join(''),
  'hex',
);

const headerSize = 64;
const segmentSize = 56;
const base = 0x400000n;

/** An executable of one segment, which is the whole file. */
function elf(code: Buffer): Buffer {
  const head = Buffer.alloc(headerSize + segmentSize);
  const size = BigInt(head.length + code.length);
  head.write('7f454c46020101', 'hex'); // magic, 64 bits, little endian, version 1
  head.writeUInt16LE(2, 16); // executable
  head.writeUInt16LE(62, 18); // x86-64
  head.writeUInt32LE(1, 20);
  head.writeBigUInt64LE(base + BigInt(head.length), 24); // entry
  head.writeBigUInt64LE(BigInt(headerSize), 32); // where the segments are described
  head.writeUInt16LE(headerSize, 52);
  head.writeUInt16LE(segmentSize, 54);
  head.writeUInt16LE(1, 56); // one segment
  head.writeUInt32LE(1, headerSize); // to be loaded
  head.writeUInt32LE(5, headerSize + 4); // readable, executable
  head.writeBigUInt64LE(base, headerSize + 16);
  head.writeBigUInt64LE(base, headerSize + 24);
  head.writeBigUInt64LE(size, headerSize + 32);
  head.writeBigUInt64LE(size, headerSize + 40);
  head.writeBigUInt64LE(0x1000n, headerSize + 48);
  return Buffer.concat([head, code]);
}
