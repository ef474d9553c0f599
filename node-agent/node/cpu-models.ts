/** Which of QEMU's named CPU models a processor can run, by the features that set each apart. Names of features are the kernel's. */

interface Family {
  /** From the oldest to the newest: each needs what is named here, and all that those before it need. */
  readonly line: readonly (readonly [name: string, ...flags: string[]])[];
  /** Models beside the line: one of it, and what they need more. */
  readonly variants: readonly (readonly [name: string, of: string, ...flags: string[]])[];
}

const transactions = ['hle', 'rtm'];

const intel: Family = {
  line: [
    ['Conroe', 'ssse3'],
    ['Penryn', 'sse4_1', 'cx16'],
    ['Nehalem', 'sse4_2', 'popcnt'],
    ['Westmere', 'aes', 'pclmulqdq'],
    ['SandyBridge', 'avx', 'xsave', 'tsc_deadline_timer'],
    ['IvyBridge', 'f16c', 'rdrand', 'fsgsbase', 'smep'],
    ['Haswell-noTSX', 'avx2', 'bmi1', 'bmi2', 'fma', 'movbe', 'invpcid'],
    ['Broadwell-noTSX', 'adx', 'rdseed', 'smap'],
    ['Skylake-Client-noTSX-IBRS', 'xsavec', 'xgetbv1', 'ibrs'],
    [
      'Skylake-Server-noTSX-IBRS',
      'clflushopt',
      'avx512f',
      'avx512bw',
      'avx512cd',
      'avx512dq',
      'avx512vl',
      'clwb',
    ],
    ['Cascadelake-Server-noTSX', 'avx512_vnni', 'arch_capabilities'],
    ['Icelake-Server-noTSX', 'avx512vbmi', 'avx512_vbmi2', 'gfni', 'vaes', 'vpclmulqdq', 'la57'],
  ],
  variants: [
    ...['Nehalem', 'Westmere', 'SandyBridge', 'IvyBridge', 'Haswell-noTSX', 'Broadwell-noTSX'].map(
      (name) => [`${name}-IBRS`, name, 'ibrs'] as const,
    ),
    ...['Haswell', 'Broadwell', 'Cascadelake-Server', 'Icelake-Server'].map(
      (name) => [name, `${name}-noTSX`, ...transactions] as const,
    ),
    ...['Haswell', 'Broadwell'].map(
      (name) => [`${name}-IBRS`, `${name}-noTSX`, 'ibrs', ...transactions] as const,
    ),
    ...['Skylake-Client', 'Skylake-Server'].flatMap((name) => [
      [name, `${name}-noTSX-IBRS`, ...transactions] as const,
      [`${name}-IBRS`, `${name}-noTSX-IBRS`, ...transactions] as const,
    ]),
    ['Cooperlake', 'Cascadelake-Server-noTSX', 'avx512_bf16', ...transactions],
    ['SapphireRapids', 'Icelake-Server-noTSX', 'amx_tile', 'avx512_fp16', 'avx_vnni', ...transactions],
  ],
};

const amd: Family = {
  line: [
    ['Opteron_G2', 'cx16'],
    ['Opteron_G3', 'popcnt', 'sse4a'],
    ['EPYC', 'avx2', 'bmi1', 'bmi2', 'fma', 'sha_ni', 'clflushopt', 'smap'],
    ['EPYC-Rome', 'clwb', 'umip', 'rdpid'],
    ['EPYC-Milan', 'invpcid', 'vaes', 'vpclmulqdq', 'pku'],
  ],
  variants: [['EPYC-IBPB', 'EPYC', 'ibpb']],
};

const families: Readonly<Record<string, Family>> = { GenuineIntel: intel, AuthenticAMD: amd };

/** From the oldest to the newest; the last is what the processor is nearest to. */
export function usableCpuModels(vendor: string | undefined, flags: ReadonlySet<string>): string[] {
  const family = families[vendor ?? ''];
  if (family === undefined) return [];
  const line: string[] = [];
  for (const [name, ...needed] of family.line) {
    if (!needed.every((flag) => flags.has(flag))) break;
    line.push(name);
  }
  const variants = family.variants.filter(
    ([, of, ...needed]) => line.includes(of) && needed.every((flag) => flags.has(flag)),
  );
  return [...variants.map(([name]) => name), ...line];
}

/** An emulated processor is of any vendor. */
export function emulatedCpuModels(flags: ReadonlySet<string>): string[] {
  return Object.keys(families).flatMap((vendor) => usableCpuModels(vendor, flags));
}
