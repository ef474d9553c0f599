/**
 * `npm run bench [-- admission | api | scale | vms]`: what things cost here and now. Prints tables; nothing is asserted, as figures
 * depend on the machine. All if no name is given; `api --scale` is `api scale`.
 */
import { benchAdmission } from './admission.js';
import { benchApi } from './api.js';
import { benchScale } from './scale.js';
import { benchVirtualMachines } from './virtual-machines.js';

const benchmarks: Readonly<Record<string, () => Promise<string>>> = {
  vms: benchVirtualMachines,
  api: benchApi,
  scale: benchScale,
  admission: benchAdmission,
};

const names = process.argv.slice(2).map((name) => (name === '--scale' ? 'scale' : name));
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  for (const [name, run] of Object.entries(benchmarks)) {
    if (names.length === 0 || names.includes(name)) process.stdout.write(`\n${name}\n\n${await run()}\n`);
  }
}
