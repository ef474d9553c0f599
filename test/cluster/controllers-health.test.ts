/** `nativirt controllers` as a kubelet and an admin see it: ready, leading, and gone with 0 when it is told to end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { afterTest } from '../../storage/testing/level-directory.js';
import { eventually } from '../e2e/harness.js';
import { startSurroundings } from './cluster.js';

const program = path.resolve(import.meta.dirname, '../../bin/nativirt');

test('controllers tell that they are ready and lead, and end with 0 on SIGTERM', async (t) => {
  const surroundings = await startSurroundings();
  afterTest(t, () => surroundings.close());
  const child = spawn(
    program,
    [
      ...['controllers', '--kubeconfig', path.join(surroundings.directory, 'kubeconfig')],
      ...['--leader-elect', '--leader-elect-namespace', 'default'],
      ...['--health-probe-bind-address', '127.0.0.1:0'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'exit');
  afterTest(t, () => child.kill('SIGKILL'));
  const listening = new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const port = /"port":(\d+),"msg":"serving health and metrics"/.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('exit', (status) => reject(new Error(`it ended with ${String(status)} before it listened`)));
  });
  const port = await listening;
  const get = async (where: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${where}`);
    return `${response.status} ${await response.text()}`;
  };
  assert.equal(await get('/livez'), '200 ok');
  assert.match(await get('/readyz?verbose'), /^200 .*\[\+\]apiserver ok\n.*\[\+\]shutdown ok\n/s);
  await eventually('it leads', async () =>
    (await get('/leader')) === '200 {"apiserver":{"leader":"true"}}\n' ? true : undefined,
  );
  await eventually('its queues are told', async () =>
    (await get('/metrics')).includes('workqueue_depth') ? true : undefined,
  );
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
});
