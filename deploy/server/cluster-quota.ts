/** The cluster's quotas: kube-apiserver holds and its controller manager counts them; new objects of ours are charged here. */
import type { Logger } from 'pino';
import type { AdmissionPlugin } from '../../apiserver/admission/interface.js';
import { QuotaLedger } from '../../apiserver/quota/ledger.js';
import { resourceQuota } from '../../apiserver/quota/plugin.js';
import type { Client, Kind } from '../../controllers/runtime/client.js';
import { isConflict, isNotFound } from '../../controllers/runtime/errors.js';
import { namespaceIndex, SharedInformer } from '../../controllers/runtime/informer.js';
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import { getIfExists } from './cluster-lookups.js';

const resourceQuotas: Kind<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  resource: 'resourcequotas',
  namespaced: true,
};

export class ClusterQuota {
  readonly plugin: AdmissionPlugin;
  readonly #informer: SharedInformer<ResourceQuota>;
  #running: Promise<void> | undefined;

  constructor(client: Client, logger: Logger) {
    const informer = new SharedInformer({ client, kind: resourceQuotas, logger });
    this.#informer = informer;
    const ledger = new QuotaLedger({
      seen: (namespace) => informer.byIndex(namespaceIndex, namespace),
      get: (namespace, name) => getIfExists(client, resourceQuotas, { namespace, name }),
      async updateStatus(quota) {
        try {
          await client.update(resourceQuotas, quota, 'status');
          return true;
        } catch (error) {
          if (isConflict(error) || isNotFound(error)) return false;
          throw error;
        }
      },
    });
    this.plugin = resourceQuota(ledger);
  }

  /** Resolves once all quotas are known. */
  async start(signal: AbortSignal): Promise<void> {
    this.#running = this.#informer.run(signal);
    await this.#informer.synced(signal);
  }

  async stopped(): Promise<void> {
    await this.#running;
  }
}
