/** Confidential guests: SEV, SEV-SNP, TDX. */
import type { StatusCause } from '../../../../openapi/meta.js';
import { forbidden, invalid } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import type { SpecRule } from './rule.js';

const kinds = { sev: 'SEV', snp: 'SNP', tdx: 'TDX' } as const;

export const launchSecurity: SpecRule = ({ spec, at, configuration }) => {
  const security = spec.domain.launchSecurity;
  if (security === undefined || spec.architecture === 's390x') return [];
  if (spec.architecture !== 'amd64') {
    return [
      invalid(
        at.child('architecture'),
        `${spec.architecture ?? 'the default'} has no launchSecurity: amd64 and s390x have`,
      ),
    ];
  }
  const field = at.child('launchSecurity');
  const chosen = (['sev', 'snp', 'tdx'] as const).filter((kind) => security[kind] !== undefined);
  const [kind] = chosen;
  if (kind === undefined || chosen.length > 1) return [forbidden(field, 'must be one of sev, snp and tdx')];
  const gate = kind === 'tdx' ? 'WorkloadEncryptionTDX' : 'WorkloadEncryptionSEV';
  if (!featureEnabled(configuration, gate)) return [invalid(field, `needs the feature gate ${gate}`)];

  const name = kinds[kind];
  const causes: StatusCause[] = [];
  const { features, firmware, devices } = spec.domain;
  const smm = features?.smm !== undefined && features.smm.enabled !== false;
  if (kind === 'tdx' && smm) causes.push(invalid(field, 'TDX does not work with features.smm'));
  const efi = firmware?.bootloader?.efi;
  if (efi === undefined) causes.push(invalid(field, `${name} needs firmware.bootloader.efi`));
  else {
    if (kind !== 'tdx' && efi.secureBoot !== false)
      causes.push(invalid(field, `${name} does not work with secure boot`));
    if (kind !== 'sev' && efi.persistent === true)
      causes.push(invalid(field, `${name} does not work with persistent EFI variables`));
  }
  if (security.sev?.attestation !== undefined && spec.startStrategy !== 'Paused') {
    causes.push(invalid(field, 'SEV attestation needs startStrategy: Paused'));
  }
  for (const { name: nic, bootOrder } of devices.interfaces ?? []) {
    if (bootOrder !== undefined)
      causes.push(invalid(field, `${name} can not boot from the network: interface ${nic} has a bootOrder`));
  }
  return causes;
};
