/** Features of processors, as VMIs name them: by libvirt's names, which are not all the kernel's. */

/** By the kernel's name. */
const libvirtNames: Readonly<Record<string, string>> = {
  arch_capabilities: 'arch-capabilities',
  avx512_4fmaps: 'avx512-4fmaps',
  avx512_4vnniw: 'avx512-4vnniw',
  avx512_bf16: 'avx512-bf16',
  avx512_bitalg: 'avx512bitalg',
  avx512_fp16: 'avx512-fp16',
  avx512_vbmi2: 'avx512vbmi2',
  avx512_vnni: 'avx512vnni',
  avx512_vp2intersect: 'avx512-vp2intersect',
  avx512_vpopcntdq: 'avx512-vpopcntdq',
  avx_vnni: 'avx-vnni',
  amx_bf16: 'amx-bf16',
  amx_int8: 'amx-int8',
  amx_tile: 'amx-tile',
  flush_l1d: 'flush-l1d',
  ibrs: 'spec-ctrl',
  md_clear: 'md-clear',
  pclmulqdq: 'pclmuldq',
  sse4_1: 'sse4.1',
  sse4_2: 'sse4.2',
  sha_ni: 'sha-ni',
  tsc_deadline_timer: 'tsc-deadline',
};

/** What QEMU 7.2 and later can emulate; the rest a guest there would miss. */
export const emulatedFlags: ReadonlySet<string> = new Set(
  (
    'fpu de pse tsc msr pae mce cx8 apic sep pge cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx rdtscp lm mmxext ' +
    '3dnow 3dnowext pni pclmulqdq monitor ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor ' +
    'lahf_lm svm abm sse4a npt fsgsbase bmi1 avx2 smep bmi2 erms adx smap clflushopt clwb pku xsaveopt mtrr'
  ).split(' '),
);

/** It ticks at one rate, and does not stop. */
const invariant = ['constant_tsc', 'nonstop_tsc'];

/** Of the time stamp counter. */
export function isInvariant(flags: ReadonlySet<string>): boolean {
  return invariant.every((flag) => flags.has(flag));
}

export function cpuFeatures(flags: ReadonlySet<string>): string[] {
  const names = [...flags].map((flag) => libvirtNames[flag] ?? flag);
  return isInvariant(flags) ? [...names, 'invtsc'] : names;
}
