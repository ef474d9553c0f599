/**
 * `npm run bench [-- NAME…] [--objects N] [--vms N]`: what things cost here and now. Prints tables; nothing is asserted, as figures
 * depend on the machine. All benchmarks if no name is given. With `--objects 100000`, `api` also shows a server with so many;
 * `api --etcd` is `api` over an etcd, beside what a client that does nothing else reaches there. `--vms` is the size of `scale`.
 */
import { parseArgs } from 'node:util';
import { benchAdmission } from './admission.js';
import { benchApi } from './api.js';
import { benchApiEtcd } from './api-etcd.js';
import { benchApiObjects } from './api-objects.js';
import { benchNode } from './node.js';
import { benchScale } from './scale.js';
import { benchVirtualMachines } from './virtual-machines.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    etcd: { type: 'boolean', default: false },
    objects: { type: 'string' },
    vms: { type: 'string', default: '10000' },
  },
});

const benchmarks: Readonly<Record<string, () => Promise<string>>> = {
  vms: benchVirtualMachines,
  api: async () =>
    [
      await (values.etcd ? benchApiEtcd() : benchApi()),
      ...(values.objects === undefined ? [] : [await benchApiObjects(Number(values.objects))]),
    ].join('\n\n'),
  node: benchNode,
  scale: () => benchScale(Number(values.vms)),
  admission: benchAdmission,
};

const unknown = positionals.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}\n`,
  );
  process.exitCode = 2;
} else {
  for (const [name, run] of Object.entries(benchmarks)) {
    if (positionals.length === 0 || positionals.includes(name))
      process.stdout.write(`\n${name}\n\n${await run()}\n`);
  }
}
