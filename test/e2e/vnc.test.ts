/** The page of `kubectl virt vnc`, in a browser. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { chromium } from 'playwright-core';
import { Cluster, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (file) => existsSync(file),
);
const skip = browserPath === undefined ? 'no Chromium is installed here' : false;

interface Canvas {
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
  };
}

test('the display of a guest is shown in a browser, and another page takes it over', { skip }, async (t) => {
  const cluster = await Cluster.start(t);
  await cluster.create(virtualMachine({ name: 'demo' }));
  await cluster.wait('vmi/demo', 'jsonpath={.status.phase}=Running');
  const virt = spawn(
    process.execPath,
    [path.resolve(import.meta.dirname, '../../bin/kubectl-virt'), 'vnc', 'demo'],
    { env: { ...process.env, KUBECONFIG: cluster.kubeconfig }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  t.after(() => virt.kill());
  let said = '';
  virt.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await eventually('it says where', () => said.includes('http://'));
  const url = /http:\S+/.exec(said)?.[0] ?? '';

  const elsewhere = await fetch(new URL('/', url));
  assert.equal(elsewhere.status, 404, 'only who knows the whole address gets the page');
  const browser = await chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(url);
  assert.equal(await page.title(), 'demo');
  await page.locator('#state', { hasText: 'connected' }).waitFor();
  const canvas = page.locator('#screen canvas');
  await canvas.waitFor();
  const colours = (): Promise<number> =>
    canvas.evaluate((element) => {
      // In the browser it is a canvas; here there are no types of the browser's.
      const { width, height } = element as unknown as { width: number; height: number };
      const context = (element as unknown as Canvas).getContext('2d');
      const { data } = context.getImageData(0, 0, width, height);
      return new Set(new Uint32Array(data.buffer)).size;
    });
  await eventually('the screen shows something', async () => (await colours()) > 1);

  const second = await browser.newPage();
  await second.goto(url);
  await second.locator('#state', { hasText: 'connected' }).waitFor();
  await page.locator('#state', { hasText: 'has ended' }).waitFor();
  assert.deepEqual(faults, []);
});
