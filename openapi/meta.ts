/** Kubernetes' meta types (meta/v1), as this code base uses them. Shapes follow the API conventions of Kubernetes. */

/** A quantity as users write it: `100m`, `1.5Gi`, or a plain number. See `quantity.ts` for its arithmetic. */
export type Quantity = string | number;
export type IntOrString = number | string;
/** RFC 3339, in UTC: `2026-01-02T03:04:05Z`. */
export type Time = string;
/** A Go duration: `1h30m`. */
export type Duration = string;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: Time;
  fieldsType: 'FieldsV1';
  /** Absent: no field. This server always writes it. */
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** Metadata of an object that the server has stored: the server always fills name, uid and resourceVersion. */
export interface ObjectMeta {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: Time;
  deletionTimestamp?: Time;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface TypeMeta {
  apiVersion: string;
  kind: string;
}

/** Any stored object. Kinds refine it; code that knows no kind reads only this. */
export interface KubernetesObject extends TypeMeta {
  metadata: ObjectMeta;
}

/** An object as a client sends it to be created: the server fills what is missing. */
export type New<T extends KubernetesObject> = Omit<T, 'metadata'> & { metadata: Partial<ObjectMeta> };

export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface ObjectList<T> extends TypeMeta {
  metadata: ListMeta;
  items: T[];
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status extends TypeMeta {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: ListMeta;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: Time | null;
  lastProbeTime?: Time | null;
  observedGeneration?: number;
}

export interface LabelSelectorRequirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values?: string[];
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}
