/** Clients that others wrote and that learn of our kinds only from what the server publishes. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { command } from '../e2e/harness.js';
import { writeKubeconfig } from './kubeconfig.js';

const here = import.meta.dirname;
const tools = path.resolve(here, '../../build/tools');

let server: NativeServer;
let directory: string;
let kubeconfig: string;

before(async () => {
  server = await startNativeServer();
  directory = mkdtempSync(path.join(tmpdir(), 'nativirt-clients-'));
  kubeconfig = path.join(directory, 'kubeconfig');
  writeKubeconfig(kubeconfig, server);
});

after(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

/** Runs a program that prints the events it sees, unless the library that it is about is not installed. */
async function sees(
  t: TestContext,
  name: string,
  debian: string,
  check: string[],
  run: string[],
): Promise<void> {
  const [interpreter = '', ...probe] = check;
  if ((await command(interpreter, probe)).code !== 0) {
    t.skip(`Debian's ${debian} is not installed; npm run test:clients installs it`);
    return;
  }
  const { code, stdout, stderr } = await command(interpreter, [...run, kubeconfig], { timeoutMs: 60_000 });
  assert.equal(code, 0, stderr);
  assert.equal(stdout, `ADDED ${name}\nMODIFIED ${name}\nDELETED ${name}\n`);
}

test('python3-kubernetes creates, watches, patches and deletes', (t) => {
  const python = '/usr/bin/python3';
  const check = [python, '-c', 'import kubernetes.dynamic'];
  return sees(t, 'by-dynamic-python', 'python3-kubernetes', check, [path.join(here, 'python/dynamic.py')]);
});

test('ruby-kubeclient creates, watches, patches and deletes', (t) => {
  const check = ['ruby', '-e', 'require "kubeclient"'];
  return sees(t, 'by-ruby', 'ruby-kubeclient', check, [path.join(here, 'ruby/main.rb')]);
});

test('helm installs, upgrades, rolls back and uninstalls', async () => {
  const environment = { ...process.env, HOME: directory, KUBECONFIG: kubeconfig };
  const helm = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await command(path.join(tools, 'helm'), args, { env: environment });
    assert.equal(code, 0, `helm ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const target = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: 'default', name: 'release' };
  const runStrategy = async (): Promise<unknown> => {
    const vm = await server.registry.get<VirtualMachine>(target);
    return vm?.spec.runStrategy;
  };
  const chart = path.join(here, 'chart');
  await helm('install', 'release', chart);
  assert.equal(await runStrategy(), 'Halted');
  await helm('upgrade', 'release', chart, '--set', 'runStrategy=Manual');
  assert.equal(await runStrategy(), 'Manual');
  await helm('rollback', 'release', '1');
  assert.equal(await runStrategy(), 'Halted');
  assert.match(await helm('list'), /release\tdefault +\t3 /);
  await helm('uninstall', 'release', '--wait');
  assert.equal(await runStrategy(), undefined);
});
