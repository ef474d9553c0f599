/** What the server serves, as one table: from it come all discovery documents, and what is a path at all. */
import type { PublishedResource } from '../../openapi/documents/published-resource.js';
import type { Resource } from '../registry/resource.js';
import type { Subresource } from '../subresources/interface.js';
import type { VirtualResource } from './virtual-resource.js';

export interface ServedSubresource {
  readonly name: string;
  readonly responseKind: GroupVersionKind;
  readonly verbs: readonly string[];
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface ServedResource {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  /** Undefined if only its subresources are served here, as in `subresources.kubevirt.io`. */
  readonly responseKind: GroupVersionKind | undefined;
  /** Full name of its schema; undefined as above. */
  readonly definition: string | undefined;
  /** Empty as above. */
  readonly verbs: readonly string[];
  readonly returnsDeletedObject: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly ServedSubresource[];
}

export interface ServedVersion {
  readonly version: string;
  readonly resources: readonly ServedResource[];
}

export interface ServedGroup {
  /** '' for the core group. */
  readonly group: string;
  /** The preferred one first. */
  readonly versions: readonly ServedVersion[];
}

export type ApiSurface = readonly ServedGroup[];

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** The order of groups decides which one a bare kind name means to kubectl: core first, then as registered. */
export function buildSurface(
  resources: readonly Resource[],
  virtual: readonly VirtualResource[],
  subresources: readonly Subresource[],
): ApiSurface {
  const surface = new SurfaceBuilder();
  for (const resource of resources) {
    for (const { name: version, definition } of resource.versions) {
      surface.add(resource.group, version, storedResource(resource, version, definition));
    }
  }
  for (const { group, version, kind, plural, singular, namespaced, definition } of virtual) {
    surface.add(group, version, {
      ...bare(plural, singular, namespaced),
      responseKind: { group, version, kind },
      definition,
      verbs: ['create'],
    });
  }
  for (const subresource of subresources) {
    for (const { group, versions } of subresource.servedUnder) {
      for (const version of versions) surface.attach(group, version, subresource);
    }
  }
  return surface.build();
}

function storedResource(resource: Resource, version: string, definition: string): ServedResource {
  const responseKind = { group: resource.group, version, kind: resource.kind };
  const viewVerbs = ['get', 'patch', 'update'];
  const subresources: ServedSubresource[] = [];
  if (resource.status) subresources.push({ name: 'status', responseKind, verbs: viewVerbs });
  if (resource.scale !== undefined) {
    const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
    subresources.push({ name: 'scale', responseKind: scale, verbs: viewVerbs });
  }
  for (const [name, { verb, kind }] of Object.entries(resource.subresources ?? {})) {
    subresources.push({ name, responseKind: { ...responseKind, kind }, verbs: [verb] });
  }
  return {
    plural: resource.plural,
    singular: resource.singular,
    namespaced: resource.namespaced,
    responseKind,
    definition,
    verbs: resource.verbs ?? allVerbs,
    returnsDeletedObject: resource.strategy.returnsDeletedObject === true,
    shortNames: resource.shortNames,
    categories: resource.categories,
    subresources,
  };
}

function bare(plural: string, singular: string, namespaced: boolean): ServedResource {
  return {
    plural,
    singular,
    namespaced,
    responseKind: undefined,
    definition: undefined,
    verbs: [],
    returnsDeletedObject: false,
    shortNames: [],
    categories: [],
    subresources: [],
  };
}

class SurfaceBuilder {
  /** Group → version → plural → resource, each in the order of registration. */
  readonly #groups = new Map<string, Map<string, Map<string, ServedResource>>>();

  add(group: string, version: string, resource: ServedResource): void {
    this.#resources(group, version).set(resource.plural, resource);
  }

  attach(group: string, version: string, subresource: Subresource): void {
    const resources = this.#resources(group, version);
    const { resource: plural, namespaced, name, responseKind, verbs } = subresource;
    const parent = resources.get(plural) ?? bare(plural, '', namespaced);
    resources.set(plural, {
      ...parent,
      subresources: [...parent.subresources, { name, responseKind, verbs }],
    });
  }

  #resources(group: string, version: string): Map<string, ServedResource> {
    let versions = this.#groups.get(group);
    if (versions === undefined) {
      versions = new Map<string, Map<string, ServedResource>>();
      this.#groups.set(group, versions);
    }
    let resources = versions.get(version);
    if (resources === undefined) {
      resources = new Map<string, ServedResource>();
      versions.set(version, resources);
    }
    return resources;
  }

  build(): ApiSurface {
    const groups = [...this.#groups].map(([group, versions]) => ({
      group,
      versions: [...versions].map(([version, resources]) => ({
        version,
        resources: [...resources.values()].sort((a, b) => (a.plural < b.plural ? -1 : 1)),
      })),
    }));
    return [...groups.filter(({ group }) => group === ''), ...groups.filter(({ group }) => group !== '')];
  }
}

/** The same table as the published documents want it. */
export function publishedResources(surface: ApiSurface): readonly PublishedResource[] {
  const generic = new Set(['status', 'scale']);
  const served = surface.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources));
  // Where only subresources are served, their object is of the kind that another group serves under that name.
  const kinds = new Map(
    served.flatMap(({ plural, responseKind }) =>
      responseKind === undefined ? [] : [[plural, responseKind.kind] as const],
    ),
  );
  return surface.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map(
        ({ plural, namespaced, responseKind, definition, verbs, returnsDeletedObject, subresources }) => ({
          group,
          version,
          kind: responseKind?.kind ?? kinds.get(plural) ?? plural,
          plural,
          namespaced,
          definition,
          verbs,
          returnsDeletedObject,
          status: subresources.some(({ name }) => name === 'status'),
          scale: subresources.some(({ name }) => name === 'scale'),
          subresources: subresources.filter(({ name }) => !generic.has(name)),
        }),
      ),
    ),
  );
}
