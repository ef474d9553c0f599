/** What every component reads of the KubeVirt object: which one counts, how fast requests may be sent, and how much is logged. */
import type { KubeVirt, LogVerbosity } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from './informer.js';
import type { SetVerbosity } from './logger.js';
import type { RequestRate } from './request-rate.js';

/** The oldest KubeVirt object counts; there should be one. */
export function kubeVirtFrom(informer: Informer<KubeVirt>): KubeVirt | undefined {
  const [first] = informer
    .list()
    .sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1));
  return first;
}

/** From now on, and with each change. No limit where the object says none. */
export function limitAsConfigured(
  rate: RequestRate,
  informer: Informer<KubeVirt>,
  component: 'controllerConfiguration' | 'handlerConfiguration',
): void {
  const configured = (): void => {
    const { restClient } = kubeVirtFrom(informer)?.spec.configuration?.[component] ?? {};
    rate.change(restClient?.rateLimiter?.tokenBucketRateLimiter);
  };
  informer.addHandler({ add: configured, update: configured, delete: configured });
}

/** From now on, and with each change. `of` chooses the component's. */
export function logAsConfigured(
  setVerbosity: SetVerbosity,
  informer: Informer<KubeVirt>,
  of: (configured: LogVerbosity) => number | undefined,
): void {
  const configured = (): void => {
    const { logVerbosity = {} } = kubeVirtFrom(informer)?.spec.configuration?.developerConfiguration ?? {};
    setVerbosity(of(logVerbosity));
  };
  informer.addHandler({ add: configured, update: configured, delete: configured });
}
