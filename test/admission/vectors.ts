/** The recorded admission vectors (`vectors/*.json`), and how a row becomes an admission request. */
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
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly object?: KubernetesObject;
  readonly oldObject?: KubernetesObject;
  readonly user?: string;
  /** A merge patch on the default configuration. */
  readonly configuration?: unknown;
  readonly allowed: boolean;
  readonly causes?: readonly StatusCause[] | null;
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
    operation: row.operation,
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
