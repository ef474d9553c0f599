import type { Service, ServicePort } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { age, column, defineCoreResource, field, versions } from './define.js';

const none = '<none>';

/** The registry gives a kind's functions objects of that kind only. */
const asService = (object: KubernetesObject): Service => object;

function portText({ port, nodePort, protocol = 'TCP' }: ServicePort): string {
  return nodePort === undefined ? `${port}/${protocol}` : `${port}:${nodePort}/${protocol}`;
}

function externalAddress({ spec, status }: Service): string {
  if (spec?.type === 'ExternalName') return spec.externalName ?? none;
  const given = status?.loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname ?? '') ?? [];
  const all = [...given, ...(spec?.externalIPs ?? [])];
  if (all.length > 0) return all.join(',');
  return spec?.type === 'LoadBalancer' ? '<pending>' : none;
}

function selector({ spec }: Service): string {
  const terms = Object.entries(spec?.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return terms.length === 0 ? none : terms.sort().join(',');
}

export const services = defineCoreResource({
  group: '',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  versions: versions('io.k8s.api.core.v1.Service', 'v1'),
  status: true,
  columns: [
    column('Type', { description: 'How the service is reached.' }, ({ spec }: Service) => spec?.type),
    column(
      'Cluster-IP',
      { description: 'Address inside the cluster.' },
      ({ spec }: Service) => spec?.clusterIP ?? none,
    ),
    column('External-IP', { description: 'Addresses outside the cluster.' }, externalAddress),
    column('Port(s)', { description: 'Ports that it serves.' }, ({ spec }: Service) =>
      (spec?.ports ?? []).length === 0 ? none : (spec?.ports ?? []).map(portText).join(','),
    ),
    age,
    column('Selector', { description: 'The pods behind it.', wide: true }, selector),
  ],
  selectableFields: {
    'spec.clusterIP': field(({ spec }: Service) => spec?.clusterIP),
    'spec.type': field(({ spec }: Service) => spec?.type),
  },
  strategy: {
    returnsDeletedObject: true,
    nameRule: 'dns-1035-label',
    prepareForCreate(object) {
      const service = asService(object);
      if (service.spec === undefined) return;
      service.spec.type ??= 'ClusterIP';
      service.spec.sessionAffinity ??= 'None';
    },
  },
});
