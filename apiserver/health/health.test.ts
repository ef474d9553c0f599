import test from 'node:test';
import assert from 'node:assert/strict';
import { startTestServer } from '../../test/apiserver/test-server.js';

test('named checks, alone, together and excluded; reasons stay in the log', async (t) => {
  let healthy = false;
  const server = await startTestServer(t, {
    readinessChecks: [
      {
        name: 'store',
        check: () => {
          if (!healthy) throw new Error('secret reason');
        },
      },
      { name: 'cache', check: () => Promise.resolve() },
    ],
    livenessChecks: [{ name: 'loop', check: () => undefined }],
  });
  const get = (path: string): ReturnType<typeof server.request> => server.request('GET', path);
  const failed = await get('/readyz');
  assert.deepEqual(
    [failed.status, failed.text],
    [
      500,
      '[+]ping ok\n[+]loop ok\n[-]store failed: reason withheld\n[+]cache ok\n[+]shutdown ok\nreadyz check failed\n',
    ],
  );
  assert.doesNotMatch((await get('/readyz/store')).text, /secret/);
  assert.equal((await get('/readyz/store')).status, 500);
  assert.equal((await get('/readyz/cache')).text, 'ok');
  assert.equal((await get('/readyz/nope')).status, 404);
  assert.equal((await get('/livez?verbose')).text, '[+]ping ok\n[+]loop ok\nlivez check passed\n');
  const without = await get('/readyz?verbose&exclude=store');
  assert.deepEqual([without.status, without.text.includes('[+]store excluded: ok')], [200, true]);
  assert.match((await get('/livez?verbose&exclude=typo')).text, /warn: .*"typo"/);
  healthy = true;
  assert.equal((await get('/readyz')).text, 'ok');
  assert.equal((await server.request('HEAD', '/readyz')).status, 200);
});
