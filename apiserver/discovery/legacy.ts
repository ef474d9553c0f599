/** The discovery documents of `/api`, `/apis` and below, one a path. */
import type {
  ApiSurface,
  ServedGroup,
  ServedResource,
  ServedSubresource,
  ServedVersion,
} from './api-surface.js';

export function groupVersionName(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `/api` */
export function apiVersions(surface: ApiSurface): unknown {
  const core = surface.find(({ group }) => group === '');
  return {
    kind: 'APIVersions',
    versions: core?.versions.map(({ version }) => version) ?? [],
    // Every address is right: the client has reached us already.
    serverAddressByClientCIDRs: [],
  };
}

/** `/apis` */
export function apiGroupList(surface: ApiSurface): unknown {
  return {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: surface.filter(({ group }) => group !== '').map(groupBody),
  };
}

/** `/apis/<group>` */
export function apiGroup(served: ServedGroup): unknown {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupBody(served) };
}

function groupBody({ group, versions }: ServedGroup): { name: string; versions: unknown[] } {
  const named = versions.map(({ version }) => ({ groupVersion: groupVersionName(group, version), version }));
  return { name: group, versions: named, ...{ preferredVersion: named[0] } };
}

/**
 * Clients split the name of a subresource at its slash, and some can not do with two. In the group that only has subresources
 * they are listed all the same, as KubeVirt does.
 */
function listedSubresources({ responseKind, subresources }: ServedResource): readonly ServedSubresource[] {
  return responseKind === undefined ? subresources : subresources.filter(({ name }) => !name.includes('/'));
}

/** `/api/<version>` and `/apis/<group>/<version>` */
export function apiResourceList(group: string, { version, resources }: ServedVersion): unknown {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersionName(group, version),
    resources: resources.flatMap((resource) => [
      ...(resource.responseKind === undefined
        ? []
        : [
            {
              name: resource.plural,
              singularName: resource.singular,
              namespaced: resource.namespaced,
              kind: resource.responseKind.kind,
              verbs: resource.verbs,
              ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
              ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
            },
          ]),
      ...listedSubresources(resource).map(({ name, responseKind, verbs }) => ({
        name: name === '' ? resource.plural : `${resource.plural}/${name}`,
        singularName: '',
        namespaced: resource.namespaced,
        ...(responseKind.group === group && responseKind.version === version
          ? {}
          : { group: responseKind.group, version: responseKind.version }),
        // Clients would take what is of no object for another place of the kind.
        kind: name === '' ? '' : responseKind.kind,
        verbs,
      })),
    ]),
  };
}
