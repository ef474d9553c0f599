import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { Counter, Registry } from 'prom-client';
import { bindAddressFlag, startHealthServer } from './health-server.js';

test('a process tells kubelets and Prometheus how it is, and first of all that it is ending', async (t) => {
  const registry = new Registry();
  new Counter({ name: 'things_total', help: 'Things.', registers: [registry] }).inc(3);
  const ending = new AbortController();
  let reachable = false;
  let leader = false;
  const server = await startHealthServer({
    address: { host: '127.0.0.1', port: 0 },
    readinessChecks: [
      {
        name: 'apiserver',
        check: () => {
          if (!reachable) throw new Error('not reachable');
        },
      },
    ],
    registry,
    leads: () => leader,
    signal: ending.signal,
    logger: pino({ level: 'silent' }),
  });
  t.after(() => server.close());
  const get = async (path: string, method = 'GET'): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return `${response.status} ${await response.text()}`;
  };
  assert.equal(await get('/livez'), '200 ok');
  assert.equal(await get('/healthz/ping'), '200 ok');
  assert.match(await get('/readyz'), /^500 \[\+\]ping ok\n\[-\]apiserver failed: reason withheld\n/);
  assert.match(await get('/readyz?exclude=apiserver&verbose'), /^200 .*\n\[\+\]apiserver excluded: ok\n/);
  reachable = true;
  assert.equal(await get('/readyz'), '200 ok');
  assert.equal(await get('/readyz', 'HEAD'), '200 ');
  assert.equal(await get('/leader'), '200 {"apiserver":{"leader":"false"}}\n');
  leader = true;
  assert.equal(await get('/leader'), '200 {"apiserver":{"leader":"true"}}\n');
  assert.match(await get('/metrics'), /\nthings_total 3\n/);
  assert.match(await get('/etc/passwd'), /^404 /);
  assert.match(await get('/readyz', 'POST'), /^405 /);
  ending.abort();
  assert.match(await get('/readyz'), /^500 .*\n.*\n\[-\]shutdown failed: reason withheld\n/);
  assert.equal(await get('/livez'), '200 ok');
});

test('where it listens: an address and a port, a port, or nowhere', () => {
  assert.equal(bindAddressFlag('--f', '0'), undefined);
  assert.equal(bindAddressFlag('--f'), undefined);
  assert.deepEqual(bindAddressFlag('--f', ':8081'), { host: undefined, port: 8081 });
  assert.deepEqual(bindAddressFlag('--f', '[::1]:80'), { host: '::1', port: 80 });
  for (const wrong of ['8081', 'host', ':65536', '127.0.0.1:'])
    assert.throws(() => bindAddressFlag('--f', wrong), { name: 'FlagError', message: /^--f / });
});
