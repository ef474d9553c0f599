/** Which of QEMU's named CPU models a processor can run, by the features that set each apart from the one before. */
const intelModels: readonly (readonly [name: string, ...flags: string[]])[] = [
  ['Penryn', 'ssse3', 'sse4_1', 'cx16'],
  ['Nehalem', 'sse4_2', 'popcnt'],
  ['Westmere', 'aes', 'pclmulqdq'],
  ['SandyBridge', 'avx', 'xsave', 'tsc_deadline_timer'],
  ['IvyBridge', 'f16c', 'rdrand', 'fsgsbase', 'smep'],
  ['Haswell-noTSX', 'avx2', 'bmi1', 'bmi2', 'fma', 'movbe', 'invpcid'],
  ['Broadwell-noTSX', 'adx', 'rdseed', 'smap'],
  ['Skylake-Client-noTSX-IBRS', 'xsavec', 'xgetbv1', 'clflushopt'],
  ['Skylake-Server-noTSX-IBRS', 'avx512f', 'avx512bw', 'avx512dq', 'avx512vl', 'clwb'],
];
const amdModels: readonly (readonly [name: string, ...flags: string[]])[] = [
  ['Opteron_G3', 'cx16', 'popcnt', 'sse4a'],
  ['EPYC', 'avx2', 'bmi1', 'bmi2', 'fma', 'sha_ni', 'clflushopt', 'smap'],
  ['EPYC-Rome', 'clwb', 'wbnoinvd', 'umip'],
  ['EPYC-Milan', 'invpcid', 'vaes', 'vpclmulqdq'],
];
const models: Readonly<Record<string, typeof intelModels>> = {
  GenuineIntel: intelModels,
  AuthenticAMD: amdModels,
};

/** From the oldest to the newest. */
export function usableCpuModels(vendor: string | undefined, flags: ReadonlySet<string>): string[] {
  const usable: string[] = [];
  for (const [name, ...needed] of models[vendor ?? ''] ?? []) {
    if (!needed.every((flag) => flags.has(flag))) break;
    usable.push(name);
  }
  return usable;
}
