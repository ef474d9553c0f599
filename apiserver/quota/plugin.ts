import type { AdmissionPlugin } from '../admission/interface.js';
import type { QuotaLedger } from './ledger.js';

/** Charges new objects to the quotas of their namespace. Must come last: what is refused later has been counted. */
export function resourceQuota(ledger: QuotaLedger): AdmissionPlugin {
  return {
    name: 'ResourceQuota',
    handles: ({ operation, namespace, subresource }) =>
      operation === 'CREATE' && namespace !== undefined && subresource === undefined,
    async validateLate({ group, resource, namespace, name, dryRun }) {
      if (namespace !== undefined) await ledger.charge({ group, resource, namespace, name, dryRun });
    },
  };
}
