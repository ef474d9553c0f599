/** What kube-aggregator, kubectl and the controller manager sent to an aggregated server, sent to ours. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { ConformanceClient } from './client.js';
import { pick } from './compare.js';

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The recorded kind was an example; ours is served in its place. */
function ours(url: string): string {
  return url.replace('demo.example.com/v1', 'kubevirt.io/v1').replace('/things', '/virtualmachines');
}

const lines = readFileSync(join(import.meta.dirname, 'aggregator-requests.jsonl'), 'utf8')
  .trim()
  .split('\n');
const requests = lines.map((line) => JSON.parse(line) as Recorded);

let server: NativeServer;
let client: ConformanceClient;

before(async () => {
  server = await startNativeServer();
  client = new ConformanceClient({ port: server.port, ca: server.authority.cert, token: 'admin' });
  const actor = { user: { name: 'admin', groups: ['system:masters'], extra: {} } };
  const target = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: 'default' };
  const vm = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'a' },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
  };
  await server.registry.create(target, vm, actor);
});

after(async () => {
  client.close();
  await server.close();
});

/** Kind of what an accepted answer holds, by what its request asked for. */
function expectedKind({ url, headers }: Recorded): string {
  const accept = headers['accept'] ?? '';
  if (accept.includes('as=Table')) return 'Table';
  if (accept.includes('as=PartialObjectMetadataList')) return 'PartialObjectMetadataList';
  if (accept.includes('as=APIGroupDiscoveryList')) return 'APIGroupDiscoveryList';
  return url.startsWith('/openapi') ? '' : 'APIResourceList';
}

for (const recorded of requests) {
  const { method, url } = recorded;
  const { accept = 'application/json' } = recorded.headers;
  const path = ours(url);
  const headers = { accept };
  if (url.includes('watch=true')) {
    test(`${method} ${url}`, async () => {
      const initial = url.includes('sendInitialEvents=true');
      const events = initial ? 2 : 1;
      const answer = await client.watch({ method, path, headers, events }, () => Promise.resolve());
      assert.equal(answer.status, 200);
      const kinds = (answer.body as unknown[]).map((event) => [
        pick(event, 'type'),
        pick(event, 'object/kind'),
      ]);
      const expected = [
        ['ADDED', 'PartialObjectMetadata'],
        ['BOOKMARK', 'PartialObjectMetadata'],
      ];
      assert.deepEqual(kinds, expected.slice(0, events));
    });
  } else {
    test(`${method} ${url}`, async () => {
      const answer = await client.call({ method, path, headers });
      assert.equal(answer.status, 200);
      assert.equal(pick(answer.body, 'kind') ?? '', expectedKind(recorded));
    });
  }
}
