/** What holds for every VMI and VM: admission answers, its defaults are settled once, and what it admitted it admits again. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { virtualMachineInstanceUpdateValidation } from '../../apiserver/admission/vmi/update.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { faulty, shaped } from './arbitrary.js';
import { schemaChecker } from './schema.js';
import { startAdmission, type AdmissionAnswer, type AdmissionServer } from './server.js';
import { contextOf, requestOf } from './vectors.js';

interface Kind {
  readonly kind: string;
  readonly specDefinition: string;
  /** Files of examples whose specs are admitted. */
  readonly examples: RegExp;
}

const kinds: readonly Kind[] = [
  {
    kind: 'VirtualMachineInstance',
    specDefinition: 'io.kubevirt.v1.VirtualMachineInstanceSpec',
    examples: /^vmi-(?!preset|replicaset)/,
  },
  {
    kind: 'VirtualMachine',
    specDefinition: 'io.kubevirt.v1.VirtualMachineSpec',
    examples: /^vm-(alpine|cirros-sata|cirros\.yaml|priorityclass)/,
  },
];

const resource = { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachineinstances' };

/** All that is gated is open, so that the rules behind the gates are met too. */
const configuration = {
  developerConfiguration: {
    featureGates: ['HostDisk', 'HostDevices', 'Sidecar', 'DownwardMetrics', 'VSOCK', 'PortRangesSpec'],
  },
};

type Specced = KubernetesObject & { readonly spec: object };

function specsOf(examples: RegExp): object[] {
  const directory = path.join(import.meta.dirname, 'examples');
  return readdirSync(directory)
    .filter((file) => examples.test(file))
    .map((file) => (parse(readFileSync(path.join(directory, file), 'utf8')) as Specced).spec);
}

/** Throws, and so fails the test, if the server would answer with an error of its own. */
async function answerTo(server: AdmissionServer, kind: string, spec: unknown): Promise<AdmissionAnswer> {
  const answer = await server.tryKind(kind, { name: 'random' }, spec);
  assert.ok([201, 400, 404, 422].includes(answer.status), `${answer.status} ${answer.message}`);
  if (answer.status === 422) {
    assert.ok(answer.causes.length > 0);
    for (const { message = '' } of answer.causes) assert.notEqual(message, '');
  }
  return answer;
}

async function admittedAgain(
  server: AdmissionServer,
  kind: string,
  { object }: AdmissionAnswer,
): Promise<void> {
  if (object === undefined) return;
  const { spec } = object as Specced;
  const again = await answerTo(server, kind, spec);
  assert.equal(again.status, 201, again.message);
  assert.deepEqual((again.object as Specced).spec, spec, 'defaults are settled once');
}

async function serverOf(t: TestContext): Promise<AdmissionServer> {
  const server = await startAdmission(configuration);
  t.after(() => server.close());
  return server;
}

for (const { kind, specDefinition, examples } of kinds) {
  test(`every spec of the shape of a ${kind} gets an answer, twice the same`, async (t) => {
    const server = await serverOf(t);
    await fc.assert(
      fc.asyncProperty(shaped(specDefinition), async (spec) => {
        await admittedAgain(server, kind, await answerTo(server, kind, spec));
      }),
      { numRuns: 200 },
    );
  });

  test(`so does every example of a ${kind} with some faults`, async (t) => {
    const server = await serverOf(t);
    await fc.assert(
      fc.asyncProperty(faulty(specsOf(examples)), async (spec) => {
        await admittedAgain(server, kind, await answerTo(server, kind, spec));
      }),
      { numRuns: 200 },
    );
  });
}

test('every change of a VMI gets an answer, and none is no fault', async () => {
  const plugin = virtualMachineInstanceUpdateValidation({
    isComponent: ({ name }) => name === 'component',
    nodeAgentOf: () => undefined,
  });
  const schemaCauses = schemaChecker('io.kubevirt.v1.VirtualMachineInstance');
  // Whether a spec is one, the schema says below.
  const instanceOf = (spec: object): VirtualMachineInstance =>
    ({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name: 'random', namespace: 'default' },
      spec,
    }) as unknown as VirtualMachineInstance;
  const examples = specsOf(/^vmi-(?!preset|replicaset)/);
  const causes = async (name: string, object: VirtualMachineInstance, oldObject: VirtualMachineInstance) => {
    const row = { operation: 'UPDATE', resource, object, oldObject, user: name, allowed: true } as const;
    return (await plugin.validate?.(requestOf(row), contextOf({ configuration }))) ?? [];
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...examples), faulty(examples), async (before, after) => {
      const [old, vmi] = [instanceOf(before), instanceOf(after)];
      if (schemaCauses(vmi).length > 0) return;
      for (const user of ['component', 'user']) {
        await causes(user, vmi, old);
        assert.deepEqual(await causes(user, vmi, vmi), []);
      }
    }),
  );
});
