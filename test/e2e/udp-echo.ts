/** A program for the guest, which has none that answers UDP: x86-64 machine code without libraries, in an ELF file. */

/**
 * socket(AF_INET, SOCK_DGRAM); bind(0.0.0.0:9999); then for ever recvfrom and sendto the same peer:
 *
 *     sub rsp, 4096 / mov eax, 41 (socket) / mov edi, 2 / mov esi, 2 / xor edx, edx / syscall / mov ebx, eax
 *     mov eax, 49 (bind) / mov edi, ebx / lea rsi, [rip + address] / mov edx, 16 / syscall
 *     again: mov dword [rsp], 16 / mov eax, 45 (recvfrom) / mov edi, ebx / lea rsi, [rsp + 64] / mov edx, 4000
 *            xor r10d, r10d / lea r8, [rsp + 16] / mov r9, rsp / syscall / mov edx, eax
 *            mov eax, 44 (sendto) / mov edi, ebx / lea rsi, [rsp + 64] / xor r10d, r10d / lea r8, [rsp + 16]
 *            mov r9d, 16 / syscall / jmp again
 *     address: family 2, port 0x270f
 */
const code =
  'SIHsABAAALgpAAAAvwIAAAC+AgAAADHSDwWJw7gxAAAAid9IjTVMAAAAuhAAAAAPBccEJBAAAAC4LQAAAInfSI10JEC6oA8AAEUx0kyNRCQQ' +
  'SYnhDwWJwrgsAAAAid9IjXQkQEUx0kyNRCQQQbkQAAAADwXruwIAJw8AAAAAAAAAAAAAAAA=';

export const udpEchoPort = 9999;

const base = 0x400000n;
const headerBytes = 64;
const programHeaderBytes = 56;

export function udpEchoProgram(): Buffer {
  const text = Buffer.from(code, 'base64');
  const start = headerBytes + programHeaderBytes;
  const elf = Buffer.alloc(start);
  // 64-bit, little endian, version 1; an executable for x86-64.
  elf.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  elf.writeUInt16LE(2, 16);
  elf.writeUInt16LE(62, 18);
  elf.writeUInt32LE(1, 20);
  elf.writeBigUInt64LE(base + BigInt(start), 24);
  elf.writeBigUInt64LE(BigInt(headerBytes), 32);
  elf.writeUInt16LE(headerBytes, 52);
  elf.writeUInt16LE(programHeaderBytes, 54);
  elf.writeUInt16LE(1, 56);
  // One segment, the whole file: PT_LOAD, readable and executable.
  elf.writeUInt32LE(1, headerBytes);
  elf.writeUInt32LE(5, headerBytes + 4);
  const size = BigInt(start + text.length);
  const fields = [0n, base, base, size, size, 0x1000n];
  fields.forEach((value, index) => elf.writeBigUInt64LE(value, headerBytes + 8 + index * 8));
  return Buffer.concat([elf, text]);
}
