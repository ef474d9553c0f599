/** How webhooks see the object of a write: in the version that they name, and of a scale only that. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { AdmissionRequest } from '../admission/interface.js';
import { omit } from '../codec/omit.js';
import { scaleOf } from '../handlers/scale.js';
import { apiVersion } from '../registry/endpoint.js';
import { valueAt, withValueAt } from '../registry/paths.js';
import type { ScalePaths } from '../registry/resource.js';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface View {
  /** Of what is seen, where the resource has this version. */
  kindOf(version: string): GroupVersionKind;
  show(object: KubernetesObject): KubernetesObject;
  /** What `object` becomes if what was seen of it becomes `patched`. */
  takeBack(patched: Readonly<Record<string, unknown>>, object: KubernetesObject): object;
}

/** All versions of a kind differ in nothing but their name. */
export function objectView({ group, kind }: AdmissionRequest, version: string): View {
  const seenAs = apiVersion(group, version);
  return {
    kindOf: (each) => ({ group, version: each, kind }),
    show({ metadata, ...object }) {
      // A new object has no revision yet; the type speaks of stored objects.
      const fresh = metadata.resourceVersion === '';
      return {
        ...object,
        apiVersion: seenAs,
        metadata: fresh ? (omit(metadata, 'resourceVersion') as KubernetesObject['metadata']) : metadata,
      };
    },
    takeBack: (patched, object) =>
      patched['apiVersion'] === seenAs ? { ...patched, apiVersion: object.apiVersion } : patched,
  };
}

export function scaleView(paths: ScalePaths): View {
  return {
    kindOf: () => ({ group: 'autoscaling', version: 'v1', kind: 'Scale' }),
    show: (object) => scaleOf(object, paths),
    takeBack: (patched, object) =>
      withValueAt(object, paths.specReplicas, valueAt(patched, 'spec.replicas') ?? 0),
  };
}
