/** What clients of KubeVirt ask about the server itself, in the group of its subresources: `version`, `guestfs`, `healthz`. */
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import { versionInfo, type BuildInfo } from '../discovery/version.js';
import { notFound } from '../errors/api-error.js';
import { jsonReply } from '../http/status-reply.js';
import type { Registry } from '../registry/registry.js';
import { kubevirtGroup, subresourcesGroup, versions } from './groups.js';
import type { ActionSubresource } from './interface.js';

export interface ServerInfoDependencies {
  readonly registry: Pick<Registry, 'list'>;
  readonly build: BuildInfo;
}

/** The version of KubeVirt whose API this server follows: virtctl warns when its own is another. */
const kubevirtVersion = 'v1.9.0';

export function serverInfoSubresources(dependencies: ServerInfoDependencies): readonly ActionSubresource[] {
  return [version(dependencies), guestfs(dependencies), healthz(dependencies)];
}

function read(resource: string, handle: ActionSubresource['handle']): ActionSubresource {
  return {
    type: 'action',
    resource,
    namespaced: false,
    name: '',
    servedUnder: [{ group: subresourcesGroup, versions }],
    responseKind: { group: '', version: 'v1', kind: '' },
    // A GET without a name is what kube-apiserver calls a list, and the roles of KubeVirt allow it as one.
    verbs: ['list'],
    handle,
  };
}

function version({ build }: ServerInfoDependencies): ActionSubresource {
  const { gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } = versionInfo(build);
  const gitVersion = `${kubevirtVersion}+nativirt-${build.version}`;
  const info = { gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform };
  return read('version', () => Promise.resolve(jsonReply(info)));
}

/** Where `virtctl guestfs` finds its image: where the KubeVirt object says that images come from. */
function guestfs({ registry }: ServerInfoDependencies): ActionSubresource {
  return read('guestfs', async () => {
    const [kubevirt] = await registry.list<KubeVirt>(kubevirtGroup, 'kubevirts');
    if (kubevirt === undefined) throw notFound(kubevirtGroup, 'kubevirts', 'kubevirt');
    const { spec, status } = kubevirt;
    return jsonReply({
      registry: status?.observedKubeVirtRegistry ?? spec.imageRegistry ?? '',
      tag: status?.observedKubeVirtVersion ?? spec.imageTag ?? '',
      digest: '',
      imagePrefix: '',
      gsImage: '',
    });
  });
}

function healthz({ registry, build }: ServerInfoDependencies): ActionSubresource {
  return read('healthz', async () => {
    const [kubevirt] = await registry.list<KubeVirt>(kubevirtGroup, 'kubevirts');
    return jsonReply({
      apiserver: { connectivity: 'ok', version: versionInfo(build) },
      'config-resource-version': kubevirt?.metadata.resourceVersion ?? '',
    });
  });
}
