/** Every document that the server publishes, judged by a validator that others wrote. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { startNativeServer } from '../apiserver/native-server.js';
import { requestOf, type Answer } from '../apiserver/test-server.js';

test('the documents are valid OpenAPI, and every reference in them leads somewhere', async (t) => {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const get = (path: string): Promise<Answer> => request('GET', path, { token: 'admin' });
  // The index of documents: where each group and version has its own.
  const { paths } = (await get('/openapi/v3')).json() as unknown as {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  };
  const places = ['/openapi/v2', ...Object.values(paths).map(({ serverRelativeURL }) => serverRelativeURL)];
  assert.ok(places.length > 20, places.join(', '));
  for (const place of places) {
    const validator = new Validator({ strict: false });
    const { valid, errors } = await validator.validate((await get(place)).json());
    assert.ok(valid, `${place}: ${JSON.stringify(errors ?? []).slice(0, 1000)}`);
    validator.resolveRefs();
  }
});
