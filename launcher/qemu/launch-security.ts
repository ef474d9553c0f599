import { mkdir } from 'node:fs/promises';
import type { SEV, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { writeImage } from '../disks/files.js';
import { failure } from '../errors.js';
import { machine, object, type MachineContext, type Part, type Properties } from './model.js';

const id = 'security0';
/** The page table bit that marks encrypted memory, and the address bits that it costs, on EPYC from its second generation. */
const encryption = { cbitpos: 51, 'reduced-phys-bits': 1 };

/** Bits of SEV's policy: nobody may debug the guest; its registers are encrypted too. */
const noDebugging = 1 << 0;
const encryptedState = 1 << 2;
/** Of SEV-SNP: bit 17 is always set, bit 16 allows simultaneous multithreading. */
const snpPolicy = (1 << 17) | (1 << 16);

/** Memory that is encrypted against the node. */
export function launchSecurityParts({ vmi }: MachineContext): Part[] {
  const { launchSecurity } = vmi.spec.domain;
  if (!launchSecurity) return [];
  const { sev, snp, tdx } = launchSecurity;
  const link = machine('confidential-guest-support', id);
  if (snp) return [link, object('sev-snp-guest', id, { ...encryption, policy: snpPolicy })];
  if (tdx) return [link, object('tdx-guest', id), machine('kernel-irqchip', 'split')];
  if (sev) return [link, object('sev-guest', id, { ...encryption, ...sevProperties(sev) })];
  throw failure('InvalidField', 'spec.domain.launchSecurity', 'it names none of sev, snp, tdx');
}

function sevProperties({ policy, session, dhCert }: SEV): Properties {
  return {
    policy: noDebugging | (policy?.encryptedState ? encryptedState : 0),
    ...(session === undefined ? {} : { 'session-file': sevFiles.session }),
    ...(dhCert === undefined ? {} : { 'dh-cert-file': sevFiles.certificate }),
  };
}

/** The owner's blobs, which QEMU reads from files of base64. */
const sevFiles = {
  session: `${podLayout.qemu}/sev-session`,
  certificate: `${podLayout.qemu}/sev-certificate`,
} as const;

/** Writes the files that the command line names. */
export async function prepareSecurity({ spec }: VirtualMachineInstance): Promise<void> {
  const { session, dhCert } = spec.domain.launchSecurity?.sev ?? {};
  if (session === undefined && dhCert === undefined) return;
  await mkdir(podLayout.qemu, { recursive: true, mode: 0o700 });
  if (session !== undefined) await writeImage(sevFiles.session, Buffer.from(session));
  if (dhCert !== undefined) await writeImage(sevFiles.certificate, Buffer.from(dhCert));
}
