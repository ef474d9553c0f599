/** What every component reads of the KubeVirt object: which one counts, how fast requests may be sent, and how much is logged. */
import type {
  KubeVirt,
  KubeVirtConfiguration,
  LogVerbosity,
} from '../../openapi/generated/types/kubevirt_v1.js';
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

/** No limit where the object says none. */
export function limitAsConfigured(
  rate: RequestRate,
  informer: Informer<KubeVirt>,
  component: 'controllerConfiguration' | 'handlerConfiguration',
): void {
  follow(informer, ({ [component]: { restClient } = {} }) => {
    rate.change(restClient?.rateLimiter?.tokenBucketRateLimiter);
  });
}

/** `of` chooses the component's. */
export function logAsConfigured(
  setVerbosity: SetVerbosity,
  informer: Informer<KubeVirt>,
  of: (configured: LogVerbosity) => number | undefined,
): void {
  follow(informer, ({ developerConfiguration: { logVerbosity = {} } = {} }) => {
    setVerbosity(of(logVerbosity));
  });
}

/** From now on, and with each change. */
function follow(informer: Informer<KubeVirt>, apply: (configuration: KubeVirtConfiguration) => void): void {
  const changed = (): void => {
    apply(kubeVirtFrom(informer)?.spec.configuration ?? {});
  };
  informer.addHandler({ add: changed, update: changed, delete: changed });
}
