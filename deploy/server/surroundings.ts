/** What stands around the kinds that this server is for. Standalone has all of it itself; in a cluster kube-apiserver does. */
import type { AdmissionLookups, AdmissionPlugin } from '../../apiserver/admission/interface.js';
import type { Authenticator } from '../../apiserver/authn/authenticator.js';
import type { TokenVerifier } from '../../apiserver/authn/bearer-token.js';
import type { Authorizer } from '../../apiserver/authz/authorizer.js';
import type { VirtualResource } from '../../apiserver/discovery/virtual-resource.js';
import type { HealthCheck } from '../../apiserver/health/health.js';
import type { NamespaceLookup } from '../../apiserver/registry/namespaces.js';
import type { Registry } from '../../apiserver/registry/registry.js';
import type { Resource } from '../../apiserver/registry/resource.js';
import type { Subresource } from '../../apiserver/subresources/interface.js';
import type { LauncherPods } from '../../apiserver/subresources/launcher-pods.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Definitions } from '../../openapi/schema.js';

/** Who issues client certificates. PEM bundles; an empty one: nobody. */
export interface ClientAuthorities {
  /** Of users. */
  readonly clientCa: string;
  /** Of front proxies. */
  readonly requestHeaderCa: string;
}

export interface Surroundings {
  /** Kinds that are served beside KubeVirt's. */
  readonly resources: readonly Resource[];
  readonly virtualResources: readonly VirtualResource[];
  /** Of the kinds that are served beside KubeVirt's. Asked for once the registry is there. */
  subresources(definitions: Definitions, configuration: () => KubeVirtConfiguration): readonly Subresource[];
  readonly authorizer: Authorizer;
  /** Asked before client certificates and tokens. */
  readonly authenticators: readonly Authenticator[];
  readonly tokenVerifiers: readonly TokenVerifier[];
  /** Runs before the admission of KubeVirt's kinds. */
  readonly admission: readonly AdmissionPlugin[];
  /** Absent: this server's own. */
  readonly namespaces?: NamespaceLookup;
  /** Reads of kinds that this server does not hold. */
  readonly elsewhere?: AdmissionLookups;
  readonly launcherPods: LauncherPods;
  /** Address of a node's agent; undefined if the node is not there or tells none. */
  readonly nodeAddress: (node: string) => Promise<string | undefined>;
  readonly readinessChecks: readonly HealthCheck[];
  clientAuthorities(): ClientAuthorities;
  /** `changed` is called when `clientAuthorities` answers something new. */
  start(signal: AbortSignal, changed: () => void): Promise<void>;
  /** Resolves once nothing runs any more, after the signal has aborted. */
  stopped(): Promise<void>;
}

/** The registry exists only after its surroundings do: they may ask for it once they are started. */
export type BuildSurroundings = (registry: () => Registry) => Surroundings;
