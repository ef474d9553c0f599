import type { Event } from '../../openapi/generated/types/core_v1.js';
import { column, defineCoreResource, field, versions } from './define.js';

/** Events are worth keeping for an hour after they last happened. */
const ttlSeconds = 3600;

function lastSeen({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: Event): string {
  return (
    series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? metadata.creationTimestamp
  );
}

function object({ involvedObject: { kind, name } }: Event): string {
  return `${(kind ?? '').toLowerCase()}/${name ?? ''}`;
}

function source({ source: from, reportingComponent, reportingInstance }: Event): string {
  const component = from?.component ?? reportingComponent ?? '';
  const host = from?.host ?? reportingInstance ?? '';
  return host === '' ? component : `${component}, ${host}`;
}

export const events = defineCoreResource({
  group: '',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  versions: versions('io.k8s.api.core.v1.Event', 'v1'),
  columns: [
    column('Last Seen', { type: 'date', description: 'Time since it last happened.' }, lastSeen),
    column('Type', { description: 'Normal or Warning.' }, ({ type }: Event) => type),
    column('Reason', { description: 'What happened, in a word.' }, ({ reason }: Event) => reason),
    column('Object', { description: 'What it happened to.' }, object),
    column(
      'Subobject',
      { description: 'The part of the object.', wide: true },
      ({ involvedObject }: Event) => involvedObject.fieldPath ?? '',
    ),
    column('Source', { description: 'Who says so.', wide: true }, source),
    column('Message', { description: 'What happened, in a sentence.' }, ({ message }: Event) =>
      message?.trim(),
    ),
    column(
      'First Seen',
      { type: 'date', description: 'Time since it first happened.', wide: true },
      ({ firstTimestamp, eventTime, metadata }: Event) =>
        firstTimestamp ?? eventTime ?? metadata.creationTimestamp,
    ),
    column(
      'Count',
      { type: 'integer', description: 'How often it happened.', wide: true },
      ({ count, series }: Event) => series?.count ?? count ?? 1,
    ),
    column('Name', { description: 'Name of the event.', wide: true }, ({ metadata }: Event) => metadata.name),
  ],
  selectableFields: {
    'involvedObject.kind': field(({ involvedObject }: Event) => involvedObject.kind),
    'involvedObject.namespace': field(({ involvedObject }: Event) => involvedObject.namespace),
    'involvedObject.name': field(({ involvedObject }: Event) => involvedObject.name),
    'involvedObject.uid': field(({ involvedObject }: Event) => involvedObject.uid),
    'involvedObject.apiVersion': field(({ involvedObject }: Event) => involvedObject.apiVersion),
    'involvedObject.resourceVersion': field(({ involvedObject }: Event) => involvedObject.resourceVersion),
    'involvedObject.fieldPath': field(({ involvedObject }: Event) => involvedObject.fieldPath),
    reason: field(({ reason }: Event) => reason),
    reportingComponent: field(({ reportingComponent }: Event) => reportingComponent),
    source: field(({ source: from, reportingComponent }: Event) => from?.component ?? reportingComponent),
    type: field(({ type }: Event) => type),
  },
  strategy: { ttlSeconds: () => ttlSeconds },
});
