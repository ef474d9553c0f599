/** Replays what kube-apiserver answered against a server of ours, over TLS on loopback. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConformanceClient, type ServerAddress } from './client.js';
import { differences, pick, type Answer } from './compare.js';
import { readGolden, type Case, type Step } from './golden.js';

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

/** A server under test. The token must be one of a member of system:masters. */
export interface ConformanceServer extends ServerAddress {
  close(): Promise<void>;
}

/** Declares a test for each recorded case. `start` is called before the first of them. */
export function conformanceSuite(start: () => Promise<ConformanceServer>): void {
  let server: ConformanceServer;
  let client: ConformanceClient;
  let count = 0;

  before(async () => {
    server = await start();
    client = new ConformanceClient(server);
  });

  after(async () => {
    client.close();
    await server.close();
  });

  for (const { name, cases } of readGolden()) {
    describe(name, () => {
      for (const golden of cases) {
        test(golden.name, async () => {
          await inNamespace(client, `golden-${count++}`, golden);
        });
      }
    });
  }
}

async function inNamespace(client: ConformanceClient, name: string, golden: Case): Promise<void> {
  const variables: Variables = { NS: name };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await client.call({ method: 'POST', path: '/api/v1/namespaces', body });
  try {
    await runCase(client, golden, variables);
  } finally {
    for (const path of golden.cleanup ?? []) {
      await client.call({ method: 'DELETE', path: substitute(path, variables) });
    }
  }
}

async function runStep(client: ConformanceClient, step: Step): Promise<Answer> {
  if (step.waitMs !== undefined) await sleep(step.waitMs);
  if (step.watch !== true) return client.call(step);
  return client.watch(step, async () => {
    for (const call of step.during ?? []) await client.call(call);
  });
}

async function runCase(client: ConformanceClient, { steps }: Case, variables: Variables): Promise<void> {
  for (const [i, recorded] of steps.entries()) {
    const step = substitute(recorded, variables);
    const got = await runStep(client, step);
    for (const [name, path] of Object.entries(step.save ?? {})) {
      const value = pick(got.body, path);
      if (typeof value === 'string') variables[name] = value;
    }
    if (recorded.answer === undefined || recorded.unrecorded === true) continue;
    const wrong = differences(recorded, recorded.answer, unsubstitute(got, variables));
    assert.deepEqual(wrong, [], `step ${i}: ${step.method ?? 'GET'} ${step.path}`);
  }
}
