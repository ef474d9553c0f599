/** Clients that others wrote and that learn of our kinds only from what the server publishes. */
import assert from 'node:assert/strict';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { Cluster, command } from '../e2e/harness.js';

const here = import.meta.dirname;
const helmProgram = path.resolve(here, '../../build/tools/helm');

/** A client library, and the program that uses it. */
interface Library {
  /** Debian's package of it. */
  readonly name: string;
  readonly interpreter: string;
  /** Fails if it is not installed. */
  readonly probe: readonly string[];
  readonly program: string;
  /** Name of the VM that the program makes. */
  readonly machine: string;
}

const libraries: readonly Library[] = [
  {
    name: 'python3-kubernetes',
    interpreter: '/usr/bin/python3',
    probe: ['-c', 'import kubernetes.dynamic'],
    program: 'python/dynamic.py',
    machine: 'by-dynamic-python',
  },
  {
    name: 'ruby-kubeclient',
    interpreter: 'ruby',
    probe: ['-e', 'require "kubeclient"'],
    program: 'ruby/main.rb',
    machine: 'by-ruby',
  },
];

/** The program prints each event that it sees. */
async function sees(t: TestContext, cluster: Cluster, library: Library): Promise<void> {
  const { name, interpreter, probe, program, machine } = library;
  if ((await command(interpreter, probe)).code !== 0) {
    t.skip(`Debian's ${name} is not installed; npm run test:clients installs it`);
    return;
  }
  const { code, stdout, stderr } = await command(interpreter, [path.join(here, program), cluster.kubeconfig]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`^ADDED ${machine}\\n(MODIFIED ${machine}\\n)+DELETED ${machine}\\n$`));
}

async function releases(cluster: Cluster): Promise<void> {
  const environment = { ...process.env, HOME: cluster.dataDirectory, KUBECONFIG: cluster.kubeconfig };
  const helm = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(helmProgram, args, { env: environment });
    assert.equal(code, 0, `helm ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const runStrategy = async (): Promise<unknown> =>
    (await cluster.json<VirtualMachine>(['get', 'vm', 'release'])).spec.runStrategy;
  const chart = path.join(here, 'chart');
  await helm('install', 'release', chart);
  assert.equal(await runStrategy(), 'Halted');
  await helm('upgrade', 'release', chart, '--set', 'runStrategy=Manual');
  assert.equal(await runStrategy(), 'Manual');
  await helm('rollback', 'release', '1');
  assert.equal(await runStrategy(), 'Halted');
  assert.match(await helm('list'), /release\tdefault +\t3 /);
  await helm('uninstall', 'release', '--wait');
  assert.equal((await cluster.kubectl(['get', 'vm', 'release'])).code, 1);
}

test('clients that learn of our kinds only from what is published', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  for (const library of libraries) {
    await t.test(`${library.name} creates, watches, patches and deletes`, (part) =>
      sees(part, cluster, library),
    );
  }
  await t.test('helm installs, upgrades, rolls back and uninstalls', () => releases(cluster));
});
