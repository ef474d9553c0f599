/** Runs the recorded rows of a kind against its admission plugin: allowed or not, and the set of (reason, field). */
import assert from 'node:assert/strict';
import test from 'node:test';
import type {
  AdmissionLookups,
  AdmissionPlugin,
  AdmissionRequest,
} from '../../apiserver/admission/interface.js';
import { kubevirtResources } from '../../apiserver/resources/index.js';
import { compileSchema } from '../../apiserver/registry/schema.js';
import { ApiError } from '../../apiserver/errors/api-error.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { contextOf, readVectors, requestOf, type VectorRow } from './vectors.js';

/** What the recording of a row depended on and the row does not hold. */
export interface Supply {
  readonly configuration?: unknown;
  /** Objects that exist besides. Of each, `apiVersion`, `kind` and `metadata` say what it is. */
  readonly existing?: readonly KubernetesObject[];
}

export interface VectorOptions {
  readonly plugin: AdmissionPlugin;
  /** Of rows that do not tell it. */
  readonly resource?: Pick<AdmissionRequest, 'group' | 'resource'>;
  /** By row. */
  readonly supply?: (row: VectorRow, index: number) => Supply;
  /** Recorded paths that name no field of the kind, and what they mean. */
  readonly corrections?: readonly (readonly [RegExp, string])[];
}

/** As the API server's own, over a fixed set of objects. */
export function lookupsOf(objects: readonly KubernetesObject[]): AdmissionLookups {
  const ofKind = (group: string, plural: string, namespace: string | undefined): KubernetesObject[] => {
    const kind = kubevirtResources.find((each) => each.group === group && each.plural === plural)?.kind;
    return objects.filter(
      (each) => each.kind === kind && (namespace === undefined || each.metadata.namespace === namespace),
    );
  };
  // Callers name the type of the kind that they ask for.
  return {
    get: <T extends KubernetesObject>(
      ...[group, plural, namespace, name]: Parameters<AdmissionLookups['get']>
    ) =>
      Promise.resolve(
        ofKind(group, plural, namespace).find((each) => each.metadata.name === name) as T | undefined,
      ),
    list: <T extends KubernetesObject>(...[group, plural, namespace]: Parameters<AdmissionLookups['list']>) =>
      Promise.resolve(ofKind(group, plural, namespace) as T[]),
  };
}

/** An object as far as admission looks at it; the cast lets a test leave out what does not matter there. */
export function existing(
  kind: string,
  name: string,
  content: Readonly<Record<string, unknown>> = {},
  metadata: Readonly<Record<string, unknown>> = {},
): KubernetesObject {
  return {
    apiVersion: '',
    kind,
    metadata: { namespace: 'default', ...metadata, name },
    ...content,
  } as unknown as KubernetesObject;
}

/** Some causes were recorded without a place, those of a schema without a reason too. */
interface RecordedCause {
  readonly reason: string | null;
  readonly field: string | null;
}

const key = ({ reason, field }: RecordedCause): string => [reason, field].join(' ');

/** What was recorded without a place is compared by its reason alone. */
function assertSameCauses(
  got: readonly StatusCause[],
  recorded: readonly RecordedCause[],
  hint: string,
): void {
  const unplaced = new Set(recorded.filter(({ field }) => field === null).map(({ reason }) => reason));
  const keys = got.map(({ reason = '', field = '' }) =>
    key({ reason, field: unplaced.has(reason) ? null : field }),
  );
  assert.deepEqual([...new Set(keys)].sort(), [...new Set(recorded.map(key))].sort(), hint);
}

/** Some rows are no whole objects. */
const withMetadata = (row: VectorRow): VectorRow =>
  row.object === undefined
    ? row
    : { ...row, object: { ...row.object, metadata: { ...row.object.metadata } } };

export function testVectors(
  name: string,
  { plugin, resource: target, supply, corrections = [] }: VectorOptions,
): void {
  for (const [index, row] of readVectors(name).entries()) {
    test(`${name} ${index}`, async () => {
      const { configuration, existing: objects = [] } = supply?.(row, index) ?? {};
      const request = { ...requestOf(withMetadata(row)), ...target };
      const resource = kubevirtResources.find(
        ({ group, plural }) => group === request.group && plural === request.resource,
      );
      if (resource === undefined) {
        assert.equal(row.allowed, false, 'a resource that the server does not serve has no admission');
        return;
      }
      const warnings: string[] = [];
      const context = {
        ...contextOf({ configuration: configuration ?? row.configuration }, warnings),
        lookups: lookupsOf(objects),
      };
      const decide = async (): Promise<readonly StatusCause[]> =>
        plugin.handles(request) ? ((await plugin.validate?.(request, context)) ?? []) : [];
      if (row.code === 400) {
        await assert.rejects(decide, (error) => error instanceof ApiError && error.code === 400);
        return;
      }
      // The rows' type has them as our own causes, which always have both.
      const recorded = ((row.causes ?? []) as readonly RecordedCause[]).map(({ reason, field }) => ({
        reason,
        field: corrections.reduce((path, [mistaken, right]) => path?.replace(mistaken, right) ?? null, field),
      }));
      if (recorded.some(({ reason }) => reason === null)) {
        assert.ok(request.object !== undefined);
        const faults = compileSchema(loadDefinitions(), resource).validate(request.object);
        assert.notDeepEqual(
          faults.length > 0 ? faults : await decide(),
          [],
          'the schema or a rule refuses it',
        );
        return;
      }
      const got = await decide();
      assertSameCauses(got, recorded, JSON.stringify({ got, row }, null, 1));
      assert.equal(got.length === 0, row.allowed);
      for (const { message } of got) assert.ok(message !== undefined && message !== '');
      if (row.allowed) assert.equal(warnings.length, row.warnings ?? 0, warnings.join('\n'));
    });
  }
}

export interface MutationOptions {
  readonly plugin: AdmissionPlugin;
  /** By row. */
  readonly supply?: (row: VectorRow, index: number) => Supply;
  /** Takes out of an object what is random. */
  readonly scrub?: (object: KubernetesObject) => unknown;
}

/** Runs the recorded rows of a kind's defaults: the whole object must come out as recorded, and stay so. */
export function testMutations(
  name: string,
  { plugin, supply, scrub = (object) => object }: MutationOptions,
): void {
  for (const [index, row] of readVectors(name).entries()) {
    test(`${name} ${index}`, async () => {
      const request = requestOf(row);
      const { object } = request;
      assert.ok(object !== undefined && plugin.handles(request));
      const context = { ...contextOf(row), lookups: lookupsOf(supply?.(row, index).existing ?? []) };
      await plugin.mutate?.(request, context);
      // A row without a result was left as it was.
      const recorded = (row.result ?? row.object) as KubernetesObject;
      assert.deepEqual(scrub(object), scrub(recorded));
      const once = structuredClone(object);
      await plugin.mutate?.(request, context);
      assert.deepEqual(object, once, 'defaulting is idempotent');
    });
  }
}
