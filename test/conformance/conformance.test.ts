/** Replays what kube-apiserver answered against our own server, over TLS on loopback. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { ConformanceClient } from './client.js';
import { differences, pick, type Answer } from './compare.js';
import { readGolden, type Call, type Case, type Step } from './golden.js';

type Variables = Record<string, string>;

/** Replaces `__NS__` and `${NAME}` in all strings. */
function substitute<T>(value: T, variables: Variables): T {
  const text = JSON.stringify(value)
    .replaceAll('__NS__', variables['NS'] ?? '')
    .replace(/\$\{(\w+)\}/g, (_, name: string) => variables[name] ?? '');
  return JSON.parse(text) as T;
}

function unsubstitute(got: Answer, { NS = '' }: Variables): Answer {
  return JSON.parse(JSON.stringify(got).replaceAll(NS, '__NS__')) as Answer;
}

let server: NativeServer;
let client: ConformanceClient;

before(async () => {
  server = await startNativeServer();
  client = new ConformanceClient({ port: server.port, ca: server.authority.cert, token: 'admin' });
});

after(async () => {
  client.close();
  await server.close();
});

async function runStep(step: Step): Promise<Answer> {
  if (step.waitMs !== undefined) await sleep(step.waitMs);
  if (step.watch !== true) return client.call(step);
  return client.watch(step, async () => {
    for (const call of step.during ?? []) await client.call(call);
  });
}

async function runCase({ steps }: Case, variables: Variables): Promise<void> {
  for (const [i, recorded] of steps.entries()) {
    const step = substitute(recorded, variables);
    const got = await runStep(step);
    for (const [name, path] of Object.entries(step.save ?? {})) {
      const value = pick(got.body, path);
      if (typeof value === 'string') variables[name] = value;
    }
    if (recorded.answer === undefined || recorded.unrecorded === true) continue;
    const wrong = differences(recorded, recorded.answer, unsubstitute(got, variables));
    assert.deepEqual(wrong, [], `step ${i}: ${step.method ?? 'GET'} ${step.path}`);
  }
}

function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const request: Call = { method, path, body };
  return client.call(request);
}

let count = 0;

for (const { name, cases } of readGolden()) {
  describe(name, () => {
    for (const golden of cases) {
      test(golden.name, async () => {
        const variables: Variables = { NS: `golden-${count++}` };
        const metadata = { name: variables['NS'] };
        await call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
        try {
          await runCase(golden, variables);
        } finally {
          for (const path of golden.cleanup ?? []) await call('DELETE', substitute(path, variables));
        }
      });
    }
  });
}
