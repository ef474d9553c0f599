/** The write path with the server's own admission, without HTTP. */
import { randomBytes } from 'node:crypto';
import { defaultConfiguration } from '../../apiserver/admission/configuration/defaults.js';
import { admissionPlugins } from '../../apiserver/admission/plugins.js';
import type { Resource } from '../../apiserver/registry/resource.js';
import { startRegistry } from '../../apiserver/registry/testing/fixture.js';
import { kubevirtResources } from '../../apiserver/resources/index.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { mergePatch } from '../../openapi/merge-patch.js';
import type { KubernetesObject, Status, StatusCause } from '../../openapi/meta.js';

export interface AdmissionAnswer {
  readonly status: number;
  readonly message: string;
  readonly causes: readonly StatusCause[];
  readonly warnings: readonly string[];
  /** As it would be stored, if it was admitted. */
  readonly object: KubernetesObject | undefined;
}

export interface AdmissionServer {
  tryKind(kind: string, metadata: object, spec: unknown): Promise<AdmissionAnswer>;
  /** Asks, and stores nothing. The object names its kind. */
  tryObject(object: object): Promise<AdmissionAnswer>;
  /** Stores the object, so that others can refer to it. */
  createObject(object: object): Promise<AdmissionAnswer>;
  close(): Promise<void>;
}

/** Undefined for what a cluster's own API server serves. */
export function resourceOf(apiVersion: string, kind: string): Resource | undefined {
  return kubevirtResources.find((each) => each.kind === kind && apiVersion.startsWith(`${each.group}/`));
}

/** `configuration` is a merge patch on the default one. */
export async function startAdmission(configuration: unknown = {}): Promise<AdmissionServer> {
  const fixture = await startRegistry({
    admission: admissionPlugins({
      isComponent: () => false,
      nodeAgentOf: () => undefined,
      uuid: () => '5d307ca9-b3ef-428c-8861-06e72d69f223',
      randomBytes,
      now: () => '2026-01-02T03:04:05Z',
    }),
    configuration: mergePatch(defaultConfiguration, configuration) as KubeVirtConfiguration,
  });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
  await fixture.request('POST', '/api/v1/namespaces', { body: namespace });

  async function post(object: object, query: string): Promise<AdmissionAnswer> {
    const { apiVersion = '', kind = '' } = object as { apiVersion?: string; kind?: string };
    const resource = resourceOf(apiVersion, kind);
    if (resource === undefined) throw new Error(`the server has no kind ${kind} of ${apiVersion}`);
    const scope = resource.namespaced ? 'namespaces/default/' : '';
    const path = `/apis/${apiVersion}/${scope}${resource.plural}${query}`;
    const { status, warnings, body } = await fixture.request('POST', path, { body: object });
    if (status === 201) {
      return { status, message: '', causes: [], warnings, object: body as KubernetesObject };
    }
    const { message = '', details } = body as Status;
    return { status, message, causes: details?.causes ?? [], warnings, object: undefined };
  }

  const tryObject = (object: object): Promise<AdmissionAnswer> => post(object, '?dryRun=All');
  return {
    tryKind: (kind, metadata, spec) => tryObject({ apiVersion: 'kubevirt.io/v1', kind, metadata, spec }),
    tryObject,
    createObject: (object) => post(object, ''),
    close: () => fixture.close(),
  };
}
