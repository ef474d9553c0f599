/**
 * The certificates of an installation in a cluster, kept where the cluster keeps such things. Needs nothing of ours to run: our
 * API server can not start before its certificate is there.
 */
import type { ControllerDependencies } from '../dependencies.js';
import type { Runnable } from '../runtime/controller.js';
import { componentAuthority, etcdAuthority, type Authority } from './authorities.js';
import { createInjector } from './injector.js';
import { CertificateKeeper } from './keeper.js';

/** `namespace`: of the installation. */
export function createCertificatesController(
  deps: ControllerDependencies,
  namespace: string,
  authorities: readonly [Authority, ...Authority[]] = [
    componentAuthority(namespace),
    etcdAuthority(namespace),
  ],
): Runnable {
  const keeper = new CertificateKeeper(deps, namespace, authorities);
  const injector = createInjector(deps, keeper.informerOf(authorities[0].secret));
  return {
    async run(signal) {
      await Promise.all([keeper.controller.run(signal), injector.run(signal)]);
    },
  };
}
