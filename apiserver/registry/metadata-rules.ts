/** What Kubernetes demands of ObjectMeta, as causes. */
import type { KubernetesObject, ObjectMeta, OwnerReference, StatusCause } from '../../openapi/meta.js';
import {
  coreFinalizerNameFaults,
  finalizerNameFaults,
  labelValueFaults,
  nameRules,
  prefixOf,
  qualifiedNameFaults,
  standardFinalizers,
} from '../../openapi/names.js';
import { sameJson } from './equal.js';
import { valueAt } from './paths.js';
import type { ScalePaths, Strategy } from './resource.js';

const annotationsLimit = 256 * 1024;

export function invalidValue(field: string, value: unknown, what: string): StatusCause {
  return {
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${what}`,
    field,
  };
}

export function requiredValue(field: string, what: string): StatusCause {
  return { reason: 'FieldValueRequired', message: `Required value: ${what}`, field };
}

export function forbiddenValue(field: string, what: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${what}`, field };
}

function nameCauses({ name, generateName }: ObjectMeta, strategy: Strategy): StatusCause[] {
  const faults = nameRules[strategy.nameRule ?? 'dns-subdomain'];
  const causes: StatusCause[] = [];
  if (generateName !== undefined && generateName !== '') {
    causes.push(
      ...prefixOf(faults)(generateName).map((fault) =>
        invalidValue('metadata.generateName', generateName, fault),
      ),
    );
  }
  if (name === '') {
    causes.push(requiredValue('metadata.name', 'name or generateName is required'));
  } else {
    causes.push(...faults(name).map((fault) => invalidValue('metadata.name', name, fault)));
  }
  return causes;
}

function labelCauses(labels: ObjectMeta['labels']): StatusCause[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedNameFaults(key).map((fault) => invalidValue('metadata.labels', key, fault)),
    ...labelValueFaults(value).map((fault) => invalidValue('metadata.labels', value, fault)),
  ]);
}

function annotationCauses(annotations: ObjectMeta['annotations']): StatusCause[] {
  const causes: StatusCause[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
    for (const fault of qualifiedNameFaults(key.toLowerCase())) {
      causes.push(invalidValue('metadata.annotations', key, fault));
    }
  }
  if (size > annotationsLimit) {
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${annotationsLimit} bytes`,
      field: 'metadata.annotations',
    });
  }
  return causes;
}

function ownerCauses(owners: readonly OwnerReference[] | undefined): StatusCause[] {
  const field = 'metadata.ownerReferences';
  const causes = (owners ?? []).flatMap((owner) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((key) => owner[key] === '')
      .map((key) => invalidValue(`${field}.${key}`, '', 'must not be empty')),
  );
  if (owners?.some(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Event') === true)
    causes.push(invalidValue(field, 'v1, Kind=Event', 'an event can not own anything'));
  const controllers = (owners ?? []).filter((owner) => owner.controller === true);
  if (controllers.length > 1) {
    const names = controllers.map((owner) => `${owner.kind}/${owner.name}`).join(' and ');
    causes.push(
      invalidValue(field, owners, `only one reference may have controller set to true; found ${names}`),
    );
  }
  return causes;
}

function finalizerCauses(finalizers: ObjectMeta['finalizers'], strategy: Strategy): StatusCause[] {
  const field = 'metadata.finalizers';
  const faults = strategy.coreFinalizers === true ? coreFinalizerNameFaults : finalizerNameFaults;
  const causes = (finalizers ?? []).flatMap((finalizer) =>
    faults(finalizer).map((fault) => invalidValue(field, finalizer, fault)),
  );
  if (finalizers?.includes('orphan') === true && finalizers.includes('foregroundDeletion')) {
    causes.push(invalidValue(field, finalizers, 'orphan and foregroundDeletion can not both be set'));
  }
  return causes;
}

/** Advice on the finalizers that a client adds to a custom kind: those without a domain may be another's too. */
export function finalizerWarnings(
  object: KubernetesObject,
  old: KubernetesObject | undefined,
  strategy: Strategy,
): string[] {
  if (strategy.coreFinalizers === true) return [];
  const known: readonly string[] = [...standardFinalizers, ...(old?.metadata.finalizers ?? [])];
  return (object.metadata.finalizers ?? [])
    .filter((finalizer) => !finalizer.includes('/') && !known.includes(finalizer))
    .map(
      (finalizer) =>
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}

/** Drops references to owners that are there already. Returns what to warn the client of. */
export function dropRepeatedOwners({ metadata }: KubernetesObject): string[] {
  const owners = metadata.ownerReferences;
  if (owners === undefined || owners.length < 2) return [];
  const once = owners.filter((owner, index) => owners.findIndex((other) => sameJson(other, owner)) === index);
  if (once.length === owners.length) return [];
  const repeated = owners.filter((owner) => !once.includes(owner)).map(({ uid }) => uid);
  metadata.ownerReferences = once;
  return [
    `metadata.ownerReferences has entries more than once, of which one is kept; their UIDs: ${[...new Set(repeated)].join(', ')}`,
  ];
}

/** Faults of the metadata of a new object. */
export function metadataCauses({ metadata }: KubernetesObject, strategy: Strategy): StatusCause[] {
  return [
    ...nameCauses(metadata, strategy),
    ...labelCauses(metadata.labels),
    ...annotationCauses(metadata.annotations),
    ...ownerCauses(metadata.ownerReferences),
    ...finalizerCauses(metadata.finalizers, strategy),
  ];
}

const immutableKeys = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp'] as const;

function addedFinalizerCauses(metadata: ObjectMeta, before: ObjectMeta): StatusCause[] {
  if (before.deletionTimestamp === undefined) return [];
  const known = before.finalizers ?? [];
  const added = (metadata.finalizers ?? []).filter((finalizer) => !known.includes(finalizer));
  if (added.length === 0) return [];
  const what = `no new finalizers can be added if the object is being deleted, found ${added.join(', ')}`;
  return [forbiddenValue('metadata.finalizers', what)];
}

/** Faults of the metadata of an updated object. Its name is not checked again: it can not change. */
export function metadataUpdateCauses({ metadata }: KubernetesObject, old: KubernetesObject): StatusCause[] {
  const before = old.metadata;
  const causes = [
    ...addedFinalizerCauses(metadata, before),
    ...immutableKeys
      .filter((key) => metadata[key] !== before[key])
      .map((key) => invalidValue(`metadata.${key}`, metadata[key] ?? '', 'field is immutable')),
    ...labelCauses(metadata.labels),
    ...annotationCauses(metadata.annotations),
    ...ownerCauses(metadata.ownerReferences),
  ];
  // kube-apiserver looks twice, once for all kinds and once for the kind, and reports whatever it sees.
  return [...causes, ...causes];
}

/** Faults of the numbers that the scale subresource reads, beside those of the schema. */
export function scaleCauses(object: object, paths: ScalePaths | undefined): StatusCause[] {
  if (paths === undefined) return [];
  const check = (path: string, type: 'number' | 'string'): StatusCause[] => {
    const value = valueAt(object, path);
    if (value === undefined || typeof value === type) return [];
    return [invalidValue(`.${path}`, value, `must be a ${type}`)];
  };
  return [
    ...check(paths.specReplicas, 'number'),
    ...check(paths.statusReplicas, 'number'),
    ...check(paths.labelSelector, 'string'),
  ];
}
