/** The recorded admission vectors (`vectors/*.json`), and how a row becomes an admission request. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defaultConfiguration } from '../../apiserver/admission/configuration/defaults.js';
import type { AdmissionContext, AdmissionRequest } from '../../apiserver/admission/interface.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { mergePatch } from '../../openapi/merge-patch.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';

export interface VectorRow {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | '';
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly object?: KubernetesObject;
  readonly oldObject?: KubernetesObject;
  readonly user?: string;
  /** A merge patch on the default configuration. */
  readonly configuration?: unknown;
  readonly allowed: boolean;
  readonly causes?: readonly StatusCause[] | null;
  /** HTTP status of a refusal. */
  readonly code?: number;
  /** How many warnings the answer carried. */
  readonly warnings?: number;
  /** The object after defaulting. */
  readonly result?: unknown;
}

/** A row of `vmi-spec`: a VMI's spec alone, checked under the path `field`. */
export interface SpecVectorRow {
  readonly spec: VirtualMachineInstanceSpec;
  readonly field: string;
  readonly configuration?: unknown;
  readonly allowed: boolean;
  readonly causes: readonly StatusCause[];
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'vectors', `${name}.json`), 'utf8'));

export function readVectors(name: string): readonly VectorRow[] {
  return read(name) as VectorRow[];
}

export function readSpecVectors(): readonly SpecVectorRow[] {
  return read('vmi-spec') as SpecVectorRow[];
}

export function configurationOf(row: { readonly configuration?: unknown }): KubeVirtConfiguration {
  return mergePatch(defaultConfiguration, row.configuration ?? {}) as KubeVirtConfiguration;
}

/** A fresh request: plugins may change its object. */
export function requestOf(row: VectorRow): AdmissionRequest {
  const object = row.object === undefined ? undefined : structuredClone(row.object);
  const subject = object ?? row.oldObject;
  return {
    // Some recordings leave it out where it does not matter.
    operation: row.operation === '' ? 'CREATE' : row.operation,
    ...row.resource,
    kind: subject?.kind ?? '',
    subresource: undefined,
    namespace: subject?.metadata.namespace,
    name: subject?.metadata.name ?? '',
    object,
    oldObject: row.oldObject,
    user: { name: row.user ?? 'user', groups: [], extra: {} },
    dryRun: false,
  };
}

export function contextOf(
  row: { readonly configuration?: unknown },
  warnings: string[] = [],
): AdmissionContext {
  return {
    configuration: configurationOf(row),
    lookups: { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) },
    warn: (text) => void warnings.push(text),
  };
}

/** A recorded cause; reason or field are missing where the answer had none. */
type RecordedCause = { readonly [Key in keyof StatusCause]?: StatusCause[Key] | null };

/**
 * The answer is the recorded one: allowed or not, and the same faults, each once. A recorded cause without a field matches any
 * field; one without a reason stands for faults of the schema, whose words are not compared. `correct` mends mistaken paths.
 */
export function assertVerdict(
  row: { readonly allowed: boolean; readonly causes?: readonly RecordedCause[] | null },
  got: readonly StatusCause[],
  correct: (field: string) => string = (field) => field,
): void {
  const context = JSON.stringify({ got, row }, null, 1);
  assert.equal(got.length === 0, row.allowed, context);
  for (const cause of got) assert.ok(cause.message !== undefined && cause.message !== '', context);
  const recorded = row.causes ?? [];
  if (recorded.some(({ reason }) => (reason ?? '') === '')) return;
  const withField = recorded.every(({ field }) => (field ?? '') !== '');
  const faults = (causes: readonly RecordedCause[]): string[] => [
    ...new Set(
      causes.map(({ reason, field }) =>
        withField ? `${reason ?? ''} ${correct(field ?? '')}` : (reason ?? ''),
      ),
    ),
  ];
  assert.deepEqual(faults(got).sort(), faults(recorded).sort(), context);
}
